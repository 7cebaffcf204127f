/** The process's clock. */

import type { Clock } from "@sluice/contract";

export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
});
