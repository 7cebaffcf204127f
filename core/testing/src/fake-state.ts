/** Shared state for tests: the true decisions on a test's clock, and a cache without bounds. */

import type { Clock, SharedState } from "@sluice/contract";
import { createDecisions } from "@sluice/runtime/state";
import { createRecords } from "@sluice/runtime/state";
import { fakeClock } from "./fake-clock.ts";

/** Shared state that answers at once. */
export function fakeState(clock: Clock = fakeClock()): SharedState {
  const kept = new Map<string, { readonly bytes: Uint8Array; readonly untilMs: number }>();
  return {
    ...createDecisions({ clock }),
    records: createRecords({ clock }),
    cache: {
      get(key) {
        const entry = kept.get(key);
        return entry !== undefined && entry.untilMs > clock.monotonic() ? entry.bytes : undefined;
      },
      set: (key, bytes, ttlMs) =>
        kept.set(key, { bytes, untilMs: clock.monotonic() + ttlMs }).has(key),
      delete: (key) => void kept.delete(key),
      purge: (prefix) =>
        [...kept.keys()].filter((key) => key.startsWith(prefix) && kept.delete(key)).length,
    },
  };
}
