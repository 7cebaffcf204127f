/** Redirects: a call whose slot is at another node, or moves there now. */

import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "@sluice/contract";
import type { Connection } from "../connection/connection.ts";
import { MAX_QUEUE_MS } from "../connection/deadline.ts";
import { readRedirect } from "./topology.ts";

/** Redirects that one call follows: a slot moves to one node, a failover names another. */
const MAX_REDIRECTS = 5;
/** Pauses of a call whose keys are on two nodes while their slot moves. */
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 50;

/** Sends a call to a node. `isAsking`: the node does not have the slot yet. */
export type Send = (connection: Connection, isAsking: boolean) => Promise<unknown>;

/** A call about a slot, and the address of the node that has it. */
export interface SlotCall {
  readonly slot: number;
  readonly owner: string;
  readonly send: Send;
}

/** What redirects ask and report. */
export interface Redirects {
  ownerOf(slot: number): string | undefined;
  /** Rejects when the node cannot be reached. */
  connectionTo(address: string): Promise<Connection>;
  moved(slot: number, address: string): void;
  /** Begins to read the topology. */
  refresh(): void;
}

/** Follows the error of a call until it is answered. Rejects with an error that leads nowhere. */
export async function follow(
  { slot, owner, send }: SlotCall,
  redirects: Redirects,
  first?: unknown,
): Promise<unknown> {
  const startedMs = performance.now();
  let [address, isAsking, followed, pauseMs] = [owner, false, 0, FIRST_PAUSE_MS];
  for (let error = first; ;) {
    const text = error === undefined ? "" : errorMessage(error);
    const redirect = readRedirect(text, address);
    if (redirect !== undefined && followed < MAX_REDIRECTS) {
      followed += 1;
      ({ address } = redirect);
      isAsking = redirect.kind === "ASK";
      if (!isAsking) {
        redirects.moved(slot, address);
        // More than one slot moves mostly.
        redirects.refresh();
      }
    } else if (text.startsWith("TRYAGAIN") && performance.now() - startedMs < MAX_QUEUE_MS) {
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      [address, isAsking] = [redirects.ownerOf(slot) ?? owner, false];
    } else if (error !== undefined) {
      redirects.refresh();
      throw error;
    }
    try {
      return await send(await redirects.connectionTo(address), isAsking);
    } catch (cause) {
      error = cause;
    }
  }
}
