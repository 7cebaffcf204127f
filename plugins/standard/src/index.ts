/** @sluice/standard: the steps of every shipped pipeline. */

import { auth } from "./auth/index.ts";
import { balance } from "./balance/index.ts";
import { cache } from "./cache/index.ts";
import { cost } from "./cost/index.ts";
import { fallback } from "./fallback/index.ts";
import { guardrails } from "./guardrails/index.ts";
import { hedge } from "./hedge/index.ts";
import { idempotency } from "./idempotency/index.ts";
import { limits } from "./limits/index.ts";
import { models } from "./models/index.ts";
import { modelInfo } from "./models/info.ts";
import { passthrough } from "./passthrough/index.ts";
import { provider } from "./provider/index.ts";
import { responses } from "./responses/index.ts";
import { storedResponses } from "./responses/stored.ts";
import { retry } from "./retry/index.ts";
import { spend } from "./spend/index.ts";
import { tokens } from "./tokens/index.ts";

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
  tokens,
  responses,
  storedResponses,
];
