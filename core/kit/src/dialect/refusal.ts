/** How a translator says no: a 400 that names the provider, the model and the place in the request. */

import { GatewayError, type ProviderRequest } from "@sluice/spec";

/** Refuses a part of the request. `what` completes "The provider p cannot take …". */
export type Refuse = (path: string, what: string) => never;

/**
 * The refusals of one request: `unsupported_parameter`, its `param` the path in the client's body, `messages[2].content[1]`
 * for example. A path that is a parameter's own name can be dropped where somebody said `drop_params`.
 */
export function refusalsOf({ target }: ProviderRequest): Refuse {
  return (path, what) => {
    throw new GatewayError(
      "unsupported_parameter",
      `The provider ${target.provider} cannot take ${what} for the model ${target.model}: ${path}.`,
      { param: path },
    );
  };
}

/** A fault of the client's request itself: `invalid_field`. `rule` completes "… must be …". */
export function invalidField(path: string, rule: string): GatewayError {
  return new GatewayError("invalid_field", `${path} must be ${rule}.`, { param: path });
}
