/**
 * Heartbeats of a stream: a text without content during silence, so that proxies and clients keep
 * the connection open.
 */

import type { Outgoing } from "./outgoing.ts";

/**
 * Checks of one interval timer within a heartbeat. A timer that every write resets would cost more.
 */
const LOOKS = 4;

/** The heartbeat of one stream. */
export interface Heartbeat {
  /** Records another write. */
  wrote(): void;
  /** Stops the heartbeat. */
  stop(): void;
}

const SILENT: Heartbeat = { wrote() {}, stop() {} };

/**
 * Writes `text` after this time without a write, or up to a fourth later; never, for 0. The
 * response head must be final, because the text sends it. A client with unread data gets none.
 */
export function startHeartbeat(response: Outgoing, everyMs: number, text: string): Heartbeat {
  if (everyMs === 0) return SILENT;
  let hasWritten = false;
  let silentLooks = 0;
  const timer = setTimeout(() => {
    if (response.destroyed || response.writableEnded) return;
    silentLooks = hasWritten ? 0 : silentLooks + 1;
    hasWritten = false;
    if (silentLooks === LOOKS) {
      silentLooks = 0;
      if (!response.writableNeedDrain) response.write(text);
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
