/**
 * The native lane of an attempt: where the client speaks a dialect of the provider's own, the
 * provider gets the client's document in place of its translation.
 */

import { IS_JUDGED } from "@sluice/runtime";
import {
  type Exchange,
  GatewayError,
  type NativeDocument,
  type NativeRequest,
  type ProviderInstance,
  type Target,
} from "@sluice/contract";

/**
 * The client's document for this provider; `undefined` where the translation is sent. Throws
 * `unsupported_parameter` for a request with a part that the translation cannot say.
 */
export function nativeDocument(
  exchange: Exchange,
  instance: ProviderInstance,
  target: Target,
): NativeDocument | undefined {
  const native = exchange.request?.native;
  if (native === undefined) return undefined;
  const isSendable =
    native.holdsOwnMarks !== true && !isEdited(exchange, native) && !IS_JUDGED.get(exchange);
  if (isSendable && isOwnDialect(native, instance, target)) {
    const { dialect, document, headers, replies, sealed, endpoint, isKept } = native;
    return {
      dialect,
      document,
      headers,
      ...(replies === undefined ? {} : { replies }),
      ...(sealed === undefined ? {} : { sealed }),
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(isKept === undefined ? {} : { isKept }),
    };
  }
  if (native.endpoint !== undefined)
    throw onlyNative(native.endpoint, native, instance, isSendable);
  const [only] = native.only;
  if (only === undefined || isOwnDialect(native, instance, target)) return undefined;
  throw new GatewayError(
    "unsupported_parameter",
    `The provider ${instance.name} cannot take ${only.what}: its API has no form for it. Remove ${only.path}, or name a model of a provider that speaks ${native.dialect}.`,
    { param: only.path },
  );
}

/** The refusal of an endpoint that has no translation. */
function onlyNative(
  endpoint: string,
  { dialect }: NativeRequest,
  { name }: ProviderInstance,
  isSendable: boolean,
): GatewayError {
  const message = isSendable
    ? `The provider ${name} has no endpoint ${endpoint}. Name a model of a provider that speaks ${dialect}.`
    : `The endpoint ${endpoint} takes the client's own document alone, and a step of this route edits or judges the request. Ask the operator for a route or a key without guardrails.`;
  return new GatewayError("unsupported_parameter", message, { param: "model" });
}

function isOwnDialect(
  { dialect }: NativeRequest,
  { translation, fetchMedia }: ProviderInstance,
  { model }: Target,
): boolean {
  // Media that the gateway fetches are put into the translation.
  return (
    fetchMedia === undefined &&
    translation.dialects?.includes(dialect) === true &&
    translation.takesDialect?.(dialect, model) !== false
  );
}

function isEdited({ request }: Exchange, { translated }: NativeRequest): boolean {
  return request?.document !== translated;
}
