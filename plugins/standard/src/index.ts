/** @sluice/standard: the steps of every shipped pipeline. */

import { auth } from "./auth.ts";
import { balance } from "./balance.ts";
import { cost } from "./cost.ts";
import { models } from "./models.ts";
import { modelInfo } from "./models-info.ts";
import { passthrough } from "./passthrough.ts";
import { provider } from "./provider.ts";
import { spend } from "./spend.ts";

export default [auth, cost, balance, provider, passthrough, models, modelInfo, spend];
