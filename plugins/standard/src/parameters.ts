/** Parameters that a provider cannot honour: refused by name, or dropped where somebody said so. Metadata, where a target takes it. */

import { isObject } from "@sluice/kit";
import { gatewayFieldKind, isGatewayOnly } from "@sluice/kit/dialect";
import { refuseSteering } from "./steering.ts";
import { NEUTRAL_VALUES, PARAMETERS, TOOL_PARAMETERS } from "@sluice/kit/openai";
import {
  type Capabilities,
  type Exchange,
  GatewayError,
  type GatewayFields,
  isGatewayError,
  type JsonObject,
  type Operation,
  type ProviderInstance,
  type ProviderRequest,
} from "@sluice/spec";

const HEADER = "x-sluice-dropped-params";

/** Keys of `metadata` that steer the gateway: no provider sees them. */
const STEERING_METADATA = new Set(["tags", "guardrails", "spend_logs_metadata"]);

/**
 * The request as its provider can honour it. What was dropped stands in the header `x-sluice-dropped-params`. Throws
 * `unsupported_parameter` where nobody said `drop_params`: the request, the target or the step (`mayDrop`).
 */
export function settleParameters(
  request: ProviderRequest,
  instance: ProviderInstance,
  exchange: Exchange,
  mayDrop: boolean,
): ProviderRequest {
  // Of an earlier attempt, at another provider.
  exchange.headers.delete(HEADER);
  const { target } = request;
  const fields = exchange.request?.fields;
  const { asked: plain, ignored } = withoutGatewayFields(request, instance, fields);
  if (ignored.length > 0) exchange.headers.set(HEADER, ignored.join(", "));
  refuseSteering(plain.document.value, target, instance);
  const asked = target.forwardMetadata === true ? withMetadata(plain, fields?.metadata) : plain;
  const isDropping = mayDrop || target.dropParams === true || fields?.drop_params === true;
  const { capabilities } = instance.translation;
  const unsupported = namesWithout(capabilities, request.operation);
  if (unsupported.length === 0 && !isDropping) return asked;
  const { value } = asked.document;
  const present = unsupported.filter((name) => value[name] !== undefined && value[name] !== null);
  const wanted = present.filter((name) => value[name] !== NEUTRAL_VALUES[name]);
  if (wanted.length > 0 && !isDropping) throw unsupportedParameters(instance.name, wanted);
  const settled = present.length === 0 ? asked : without(asked, present);
  return isDropping ? dropRefused(settled, instance, exchange, wanted) : settled;
}

/** The request without fields that other gateways know, but for those of the provider's own dialect; and their names. */
function withoutGatewayFields(
  request: ProviderRequest,
  { translation }: ProviderInstance,
  fields: GatewayFields | undefined,
): { readonly asked: ProviderRequest; readonly ignored: readonly string[] } {
  const taken = Object.keys(fields ?? {}).filter((name) => gatewayFieldKind(name) === "foreign");
  const native = translation.capabilities.nativeFields;
  const left = Object.keys(request.document.value).filter((name) => isGatewayOnly(name, native));
  return { asked: left.length === 0 ? request : without(request, left), ignored: [...taken, ...left] };
}

/** Drops what the provider refuses only when it sees the values. Encoding is pure: trying it sends nothing. */
function dropRefused(
  request: ProviderRequest,
  instance: ProviderInstance,
  exchange: Exchange,
  dropped: string[],
): ProviderRequest {
  let asked = request;
  for (;;) {
    const refused = refusedParameter(asked, instance);
    if (refused === undefined) break;
    asked = without(asked, [refused]);
    dropped.push(refused);
  }
  if (dropped.length > 0) {
    const names = [exchange.headers.get(HEADER) ?? [], dropped].flat().join(", ");
    exchange.headers.set(HEADER, names);
    exchange.note("provider", "dropped parameters", names);
  }
  return asked;
}

/** The parameter for which a provider refuses to encode a request; `undefined` when it encodes, or fails otherwise. */
function refusedParameter(request: ProviderRequest, { translation }: ProviderInstance): string | undefined {
  try {
    translation.encode(request);
    return undefined;
  } catch (error) {
    if (!isGatewayError(error) || error.code !== "unsupported_parameter" || error.param === undefined) return undefined;
    const isOptional = PARAMETERS[request.operation]?.includes(error.param) === true;
    return isOptional && request.document.value[error.param] !== undefined ? error.param : undefined;
  }
}

function without(request: ProviderRequest, names: readonly string[]): ProviderRequest {
  return { ...request, document: request.document.with(Object.fromEntries(names.map((name) => [name, undefined]))) };
}

function withMetadata(request: ProviderRequest, metadata: unknown): ProviderRequest {
  if (!isObject(metadata)) return request;
  const rest: JsonObject = Object.fromEntries(Object.entries(metadata).filter(([name]) => !STEERING_METADATA.has(name)));
  return Object.keys(rest).length === 0 ? request : { ...request, document: request.document.with({ metadata: rest }) };
}

function unsupportedParameters(provider: string, names: readonly string[]): GatewayError {
  const noun = names.length === 1 ? "parameter" : "parameters";
  return new GatewayError(
    "unsupported_parameter",
    `The provider ${provider} cannot honour the ${noun} ${names.join(", ")}. Leave out what it cannot, or send drop_params: true.`,
    { param: names[0] ?? "" },
  );
}

const computed = new WeakMap<Capabilities, Map<Operation, readonly string[]>>();
const NONE: readonly string[] = Object.freeze([]);

/** Known parameters that a provider cannot honour. Computed once for each. */
function namesWithout(capabilities: Capabilities, operation: Operation): readonly string[] {
  const { parameters, tools } = capabilities;
  if (parameters === undefined && tools) return NONE;
  const known = computed.get(capabilities) ?? new Map<Operation, readonly string[]>();
  computed.set(capabilities, known);
  let names = known.get(operation);
  if (names === undefined) {
    names = (PARAMETERS[operation] ?? []).filter(
      (name) => (parameters !== undefined && !parameters.includes(name)) || (!tools && TOOL_PARAMETERS.includes(name)),
    );
    known.set(operation, names);
  }
  return names;
}
