/** Heartbeats of a stream: a comment during silence, so that proxies and clients keep the connection open. */

import type { ServerResponse } from "node:http";

/** A comment, which every reader of events passes over (WHATWG HTML 9.2.6). */
const PING = ": ping\n\n";

/** One timer for the stream looks so often within a silence, instead of every write moving one or asking for the time. */
const LOOKS = 4;

/** The heartbeat of one stream. */
export interface Heartbeat {
  /** Something else was written. */
  wrote(): void;
  /** Nothing is written any more. */
  stop(): void;
}

const SILENT: Heartbeat = { wrote() {}, stop() {} };

/**
 * Writes a comment whenever nothing was written for so long, or up to a fourth longer; never, for 0. The head must have been
 * decided, because a comment sends it. A client that has not read what it was sent gets none.
 */
export function startHeartbeat(response: ServerResponse, everyMs: number): Heartbeat {
  if (everyMs === 0) return SILENT;
  let hasWritten = false;
  let silentLooks = 0;
  const timer = setTimeout(() => {
    if (response.destroyed || response.writableEnded) return;
    silentLooks = hasWritten ? 0 : silentLooks + 1;
    hasWritten = false;
    if (silentLooks === LOOKS) {
      silentLooks = 0;
      if (!response.writableNeedDrain) response.write(PING);
    }
    timer.refresh();
  }, everyMs / LOOKS);
  timer.unref();
  return {
    wrote() {
      hasWritten = true;
    },
    stop: () => clearTimeout(timer),
  };
}
