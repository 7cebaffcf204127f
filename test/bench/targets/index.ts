/** All targets, the floor first: every ratio is to it. */

import type { Target } from "../target.ts";
import { floor } from "./floor.ts";
import { nginx } from "./nginx.ts";
import { portkey } from "./portkey.ts";
import { sluice, sluiceFew, sluiceGuardrails, sluiceLimits, sluiceLimitsCache } from "./sluice.ts";

export const TARGETS: readonly Target[] = [
  floor,
  sluice,
  sluiceFew,
  sluiceGuardrails,
  sluiceLimits,
  sluiceLimitsCache,
  nginx,
  portkey,
];
