/**
 * One answer for a model that does not exist and for one that the key may not use: it does not
 * reveal which models exist.
 */

import { GatewayError } from "@sluice/contract";

const MAX_CHARACTERS = 200;

/** The refusal of a model id: `model_not_found`. */
export function modelNotFound(id: string): GatewayError {
  const shown = JSON.stringify(id.slice(0, MAX_CHARACTERS));
  return new GatewayError(
    "model_not_found",
    `The model ${shown} does not exist or you may not use it.`,
    { param: "model" },
  );
}
