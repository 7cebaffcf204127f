/** @sluice/standard: the steps of every shipped pipeline. */

import { auth } from "./auth.ts";
import { balance } from "./balance.ts";
import { cache } from "./cache.ts";
import { cost } from "./cost.ts";
import { fallback } from "./fallback.ts";
import { guardrails } from "./guardrails.ts";
import { hedge } from "./hedge.ts";
import { idempotency } from "./idempotency.ts";
import { limits } from "./limits.ts";
import { models } from "./models.ts";
import { modelInfo } from "./models-info.ts";
import { passthrough } from "./passthrough.ts";
import { provider } from "./provider.ts";
import { retry } from "./retry.ts";
import { spend } from "./spend.ts";

export default [
  auth,
  cost,
  limits,
  idempotency,
  guardrails,
  cache,
  fallback,
  hedge,
  balance,
  retry,
  provider,
  passthrough,
  models,
  modelInfo,
  spend,
];
