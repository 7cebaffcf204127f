/** A server that cannot be reached at the start. */

import { setTimeout as pause } from "node:timers/promises";
import { errorMessage, type Log } from "@sluice/contract";
import { DatabaseError } from "pg";

/**
 * SQLSTATE of a server that is starting, stopping or full, and of a database that takes no
 * connections now: classes 08, 53 and 57P, and 55000.
 */
const PASSING = /^(?:08|53|57P|55000)/;
const RETRY_MS = 1_000;
/** What a server refuses may pass too: a standby is promoted, a password is corrected. */
const RETRY_REFUSED_MS = 2_000;

/**
 * Whether an error says that the server cannot be reached now. What it refuses is no such error.
 */
function isAway(error: unknown): boolean {
  if (error instanceof DatabaseError) return PASSING.test(error.code ?? "");
  return (
    error instanceof Error &&
    error.name !== "AbortError" &&
    !/schema has version/.test(error.message)
  );
}

/** A preparation of the schema, now or when the server answers. */
export interface Preparation {
  readonly prepare: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  /** Aborted when the store stops. */
  readonly stopping: AbortSignal;
  readonly log: Log;
  /** Absent: a server that cannot be reached is an error. */
  readonly onLateOpen: (() => void) | undefined;
}

/** Prepares, or leaves it to the background where the server cannot be reached and may be away. */
export async function prepareNowOrLater(preparation: Preparation): Promise<void> {
  const { prepare, signal, stopping, log, onLateOpen } = preparation;
  try {
    await prepare(signal);
  } catch (error) {
    if (onLateOpen === undefined || !isAway(error)) throw error;
    log.warn("the store cannot be reached; it is opened when it answers", { error });
    void openLater(prepare, stopping, log).then((isOpen) => {
      if (isOpen) onLateOpen();
    });
  }
}

/**
 * Prepares again until it works: once a second, and less often where the server refuses. Resolves
 * with whether it did. Never rejects: what the server refuses is logged once.
 */
async function openLater(
  prepare: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  log: Log,
): Promise<boolean> {
  let refusal = "";
  while (!signal.aborted) {
    try {
      const pauseMs = refusal === "" ? RETRY_MS : RETRY_REFUSED_MS;
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other.
      await pause(pauseMs, undefined, { signal, ref: false });
      // oxlint-disable-next-line no-await-in-loop -- as above.
      await prepare(signal);
      log.info("the store is open", { store: "postgres" });
      return true;
    } catch (error) {
      if (signal.aborted) break;
      const said = isAway(error) ? "" : errorMessage(error);
      if (said !== "" && said !== refusal)
        log.error("the store cannot be opened; it is tried again", { error });
      refusal = said;
    }
  }
  return false;
}
