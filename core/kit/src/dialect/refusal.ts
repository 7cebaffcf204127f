/**
 * Refusals of a translator: a 400 that names the provider, the model and the place in the request.
 */

import { GatewayError, type ProviderRequest } from "@sluice/contract";

/** Refuses a part of the request. `what` completes "The provider p cannot take …". */
export type Refuse = (path: string, what: string) => never;

/**
 * The refusals of one request: `unsupported_parameter`, with the path in the client's body as
 * `param`, for example `messages[2].content[1]`. A path that is a parameter's name can be dropped
 * where the request or the target sets `drop_params`.
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

/** A fault of the client's request: `invalid_field`. `rule` completes "… must be …". */
export function invalidField(path: string, rule: string): GatewayError {
  return new GatewayError("invalid_field", `${path} must be ${rule}.`, { param: path });
}
