/**
 * The model that a native request means: Stability names it in the path, or in a field of the form.
 */

import { Native } from "@sluice/kit/passthrough";
import type { PassthroughRequest } from "@sluice/contract";

/** The default model of the service `sd3`, for a form without a model. */
const SD3_DEFAULT = "sd3.5-large";

/**
 * The model of a native request, as its price is called: an engine, `stable-image-core`,
 * `sd3.5-large`; of other services their path, `upscale/fast`. `undefined` where nothing is made.
 */
export function nativeModel(request: PassthroughRequest): string | undefined {
  const { endpoint, headers } = request;
  const [, engine] = /^v1\/generation\/([^/]+)\//.exec(endpoint) ?? [];
  if (engine !== undefined) return engine;
  const [, group, service] = /^v2beta\/stable-image\/([a-z-]+)\/([a-z0-9-]+)$/.exec(endpoint) ?? [];
  if (group === undefined || service === undefined) return undefined;
  if (group !== "generate") return `${group}/${service}`;
  if (service !== "sd3") return `stable-image-${service}`;
  const isForm = /^multipart\//i.test(headers["content-type"]?.trim() ?? "");
  const named = isForm ? Native.formField(request, "model") : undefined;
  // The service has models of its own only: another name is not that of what it would run.
  return named?.startsWith("sd3") === true ? named : SD3_DEFAULT;
}
