/**
 * Stability's models and where each lives (platform.stability.ai/docs/api-reference). Data and two
 * questions.
 */

import { Members } from "@sluice/kit/dialect";

/**
 * How a model is called: an engine of the first API takes JSON, the services of the second take
 * forms, one image a call.
 */
export type Service = "core" | "ultra" | "sd3" | "engine";

const SERVICES = Members.table<Service>({
  "stable-image-core": "core",
  "stable-image-ultra": "ultra",
});

/** Maximum images of one call of the first API (`samples`). */
const MAX_SAMPLES = 10;

/** The service of a model. A name that no service has is an engine's. */
export function serviceOf(model: string): Service {
  return SERVICES[model] ?? (model.startsWith("sd3") ? "sd3" : "engine");
}

/** Maximum images of one call. */
export function imagesPerCall(model: string): number {
  return serviceOf(model) === "engine" ? MAX_SAMPLES : 1;
}
