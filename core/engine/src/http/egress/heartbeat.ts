/** Heartbeats of a stream: a comment now and then while there is nothing to say, so that nobody on the way gives it up. */

import type { ServerResponse } from "node:http";

/** A comment, which every reader of events passes over (WHATWG HTML 9.2.6). */
const PING = ": ping\n\n";

/** The heartbeat of one stream. */
export interface Heartbeat {
  /** Something else was written. */
  wrote(): void;
  /** Nothing is written any more. */
  stop(): void;
}

const SILENT: Heartbeat = { wrote() {}, stop() {} };

/**
 * Writes a comment whenever nothing was written for so long; never, for 0. The head must have been decided, because a comment
 * sends it. A client that has not read what it was sent gets none.
 */
export function startHeartbeat(response: ServerResponse, everyMs: number): Heartbeat {
  if (everyMs === 0) return SILENT;
  let wroteAtMs = performance.now();
  // One timer for the stream: it looks when the last write was, instead of every write moving it.
  let timer = setTimeout(beat, everyMs).unref();
  function beat(): void {
    const nowMs = performance.now();
    let leftMs = wroteAtMs + everyMs - nowMs;
    if (leftMs < 1) {
      if (response.destroyed || response.writableEnded) return;
      if (!response.writableNeedDrain) response.write(PING);
      wroteAtMs = nowMs;
      leftMs = everyMs;
    }
    timer = setTimeout(beat, leftMs).unref();
  }
  return {
    wrote() {
      wroteAtMs = performance.now();
    },
    stop: () => clearTimeout(timer),
  };
}
