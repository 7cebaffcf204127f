/** What the rows of `proof:isolation` are made from. */

import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Upstream } from "@sluice/testing";
import { chat, MESSAGES } from "../system/support/client.ts";
import type { GatewayProcess } from "../system/support/gateway-process.ts";

/** The options of the proof. Its parts get the same ones. */
export const { values: OPTIONS } = parseArgs({
  options: {
    workers: { type: "string", default: "1" },
    rows: { type: "string", default: "" },
    seconds: { type: "string", default: "5" },
  },
});
export const SECONDS = Number(OPTIONS.seconds);

/**
 * What a row works with. Every row has a gateway of its own, so that no attack is left over from
 * the row before.
 */
export interface Stage {
  readonly gateway: GatewayProcess;
  readonly upstream: Pick<Upstream, "script">;
  /**
   * A service that judges for the guardrail `service` and serves `/medium.png`: whatever says SLOW
   * is never answered.
   */
  readonly serviceUrl: string;
  newKey(body?: object): Promise<string>;
  /** Adds a model to gateway.yaml. */
  addModel(model: string): void;
}

/** A row: prepares, and returns the victim's request, the attack, and the words that refuse it. */
export interface Attack {
  readonly victim: () => Promise<Response>;
  /** Attacks until the signal aborts. Returns what refused it. */
  readonly attack: (signal: AbortSignal, refused: (text: string) => void) => Promise<unknown>;
  readonly refusal: RegExp | undefined;
  /** How long the attack runs before the victim is watched. Default 500 ms. */
  readonly settleMs?: number;
}
export type Row = (stage: Stage) => Promise<Attack>;

/** The request of a key. */
export const keyed = (key: string, signal?: AbortSignal): RequestInit => ({
  headers: { authorization: `Bearer ${key}` },
  ...(signal === undefined ? {} : { signal }),
});

/** Requests at the same time, each sent again when it is refused. */
export async function flood(
  { gateway }: Stage,
  count: number,
  key: string,
  body: object,
  signal: AbortSignal,
  refused: (text: string) => void,
): Promise<void> {
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const response = await chat(gateway, { messages: MESSAGES, ...body }, keyed(key, signal));
        const text = await response.text();
        if (response.status >= 400) refused(text);
      } catch {
        // The attack has ended.
      }
      await pause(500, undefined, { signal }).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: count }, one));
}

/** One request after the other, with a pause in between, until the end. */
export async function again(
  signal: AbortSignal,
  everyMs: number,
  one: (turn: number) => Promise<unknown>,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await one(turn).catch(() => undefined);
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
