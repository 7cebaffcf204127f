/**
 * Adapts a request to its provider: unsupported fields, fields by which an upstream chooses
 * models or tools itself, metadata, and the notices to the client.
 */

import { isObject, type Stages } from "@sluice/kit";
import {
  droppedWith,
  enforcedReplies,
  gatewayFieldKind,
  isGatewayOnly,
  lowerExtensions,
  lowerThinking,
  settleFields,
} from "@sluice/runtime/dialect";
import { fieldRule } from "@sluice/kit/internals";
import {
  type Capabilities,
  type Exchange,
  type GatewayFields,
  isGatewayError,
  type JsonObject,
  type Provider,
  type ProviderInstance,
  type ProviderRequest,
  type UpstreamCall,
  GatewayError,
  type Target,
} from "@sluice/contract";

const HEADER = "x-sluice-dropped-params";
const NO_NAMES: readonly string[] = Object.freeze([]);

/** Keys of `metadata` that control the gateway. No provider receives them. */
const STEERING_METADATA = new Set(["tags", "guardrails", "spend_logs_metadata"]);

/** An encoded call, and its request. */
export interface EncodedRequest {
  readonly request: ProviderRequest;
  readonly call: UpstreamCall;
}

/** A request that its provider supports. */
export interface SettledRequest {
  readonly request: ProviderRequest;
  /** The provider, with its replies adapted to the fields that it does not support. */
  readonly provider: ProviderInstance;
  /**
   * Encodes the request or a part of it, without droppable fields whose value the provider refuses.
   */
  encode(request: ProviderRequest): EncodedRequest;
  /** The same in stages, for a large request. */
  encodeInStages(request: ProviderRequest): Stages.Of<EncodedRequest>;
}

/**
 * The request without unsupported fields. The header `x-sluice-dropped-params` lists the dropped
 * ones. Throws `unsupported_parameter` for a demand where neither the request, the target nor the
 * step (`mayDrop`) says `drop_params`.
 */
export function settleParameters(
  request: ProviderRequest,
  instance: ProviderInstance,
  exchange: Exchange,
  mayDrop: boolean,
): SettledRequest {
  // Of an earlier attempt, at another provider.
  exchange.headers.delete(HEADER);
  const { target, operation } = request;
  const { translation } = instance;
  const { capabilities } = translation;
  const { fields, native: faced } = exchange.request ?? {};
  const hints = faced?.hints ?? NO_NAMES;
  const isDropping = mayDrop || target.dropParams === true || fields?.drop_params === true;
  const notice = createNotice(exchange);
  notice.add(foreignFields(fields));
  const native = gatewayOnly(request.document.value, capabilities.nativeFields);
  notice.add(native);
  const plain = native.length === 0 ? request : without(request, native);
  const named = target.forwardMetadata === true ? withMetadata(plain, fields?.metadata) : plain;
  const asked = faced === undefined ? named : lowered(named, capabilities, notice);
  const terms = {
    operation,
    provider: instance.name,
    capabilities,
    model: target.model,
    isDropping,
    hints,
  };
  const { document, dropped, rules } = settleFields(asked.document, terms);
  notice.add(dropped);
  return {
    request: document === asked.document ? asked : { ...asked, document },
    provider:
      rules === undefined
        ? instance
        : { ...instance, translation: enforcedReplies(translation, rules) },
    ...encoders(
      translation,
      (error, sent) => {
        const refused = droppableField(error, sent, isDropping, hints);
        if (refused === undefined) throw error;
        const names = droppedWith(operation, refused, sent.document.value);
        notice.add(names);
        return without(sent, names);
      },
      notice,
    ),
  };
}

/** Encodes at once and in stages. `lessRefused`: the request without a field that is refused. */
function encoders(
  translation: Provider,
  lessRefused: (error: unknown, sent: ProviderRequest) => ProviderRequest,
  notice: Notice,
): Pick<SettledRequest, "encode" | "encodeInStages"> {
  const encoded = (request: ProviderRequest, call: UpstreamCall): EncodedRequest => {
    if (call.dropped !== undefined) notice.add(call.dropped);
    return { request, call };
  };
  return {
    encode(part) {
      for (let sent = part; ;) {
        try {
          return encoded(sent, translation.encode(sent));
        } catch (error) {
          sent = lessRefused(error, sent);
        }
      }
    },
    *encodeInStages(part) {
      for (let sent = part; ;) {
        try {
          return encoded(sent, yield* encodeStages(translation, sent));
        } catch (error) {
          sent = lessRefused(error, sent);
        }
      }
    },
  };
}

/** The call of a request; in one stage where the provider has no more. */
function* encodeStages(translation: Provider, request: ProviderRequest): Stages.Of<UpstreamCall> {
  if (translation.encodeInStages === undefined) return translation.encode(request);
  return yield* translation.encodeInStages(request);
}

/** A request of a face, without the extensions that the provider does not have. */
function lowered(
  request: ProviderRequest,
  capabilities: Capabilities,
  notice: ReturnType<typeof createNotice>,
): ProviderRequest {
  const { parameters, traits, isReference } = capabilities;
  const own = isReference === true ? lowerExtensions(request.document) : request.document;
  // A provider that does not list its parameters takes those of the reference dialect.
  const takes = (name: string): boolean => parameters?.includes(name) ?? name !== "thinking";
  if (own.value.thinking === undefined || takes("thinking"))
    return own === request.document ? request : { ...request, document: own };
  const { model } = request.target;
  // An upstream of the reference dialect refuses an effort for a model that does not reason.
  const mayReason = isReference !== true || traits?.(model)?.reasons === true;
  const { document, dropped } = lowerThinking(own, mayReason && takes("reasoning_effort"));
  notice.add(dropped);
  return { ...request, document };
}

/** A request whose upstream takes the client's own document. Nothing is left out. */
export function settleNative(
  request: ProviderRequest,
  instance: ProviderInstance,
  exchange: Exchange,
): SettledRequest {
  exchange.headers.delete(HEADER);
  const notice = createNotice(exchange);
  notice.add(foreignFields(exchange.request?.fields));
  return {
    request,
    provider: instance,
    encode: (part) => ({ request: part, call: instance.translation.encode(part) }),
    *encodeInStages(part) {
      return { request: part, call: yield* encodeStages(instance.translation, part) };
    },
  };
}

/** The droppable field whose value a provider refuses. */
function droppableField(
  error: unknown,
  { operation, document }: ProviderRequest,
  isDropping: boolean,
  hints: readonly string[],
): string | undefined {
  if (!isGatewayError(error) || error.code !== "unsupported_parameter" || error.param === undefined)
    return undefined;
  const rule = fieldRule(operation, error.param);
  if (rule === undefined || document.value[error.param] === undefined) return undefined;
  const isHint = rule.otherwise === "hint" || hints.includes(error.param);
  return isDropping || isHint ? error.param : undefined;
}

interface Notice {
  add(names: readonly string[]): void;
}

/** Names for the client, each once, in the order of their dropping. */
function createNotice(exchange: Exchange): Notice {
  let known: Set<string> | undefined;
  return {
    add(names) {
      if (names.length === 0) return;
      const listed = (known ??= new Set());
      const added = names.filter((name) => !listed.has(name));
      if (added.length === 0) return;
      for (const name of added) listed.add(name);
      exchange.headers.set(HEADER, [...listed].slice(0, MAX_NAMES).map(headerText).join(", "));
      exchange.note("provider", "dropped parameters", added.map(headerText).join(", "));
    },
  };
}

/** The bounds of the header: names, and characters of a name. */
const MAX_NAMES = 64;
const MAX_NAME_CHARACTERS = 64;

/** A client's field name, safe for a header. */
function headerText(name: string): string {
  return name.slice(0, MAX_NAME_CHARACTERS).replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, "_");
}

/** Fields that only other gateways know. They were taken out as the request came in. */
function foreignFields(fields: GatewayFields = {}): readonly string[] {
  let found: string[] | undefined;
  for (const name in fields) if (gatewayFieldKind(name) === "foreign") (found ??= []).push(name);
  return found ?? NO_NAMES;
}

/** A body without the members that only gateways know. */
function gatewayOnly(
  body: JsonObject,
  nativeFields: readonly string[] | undefined,
): readonly string[] {
  let found: string[] | undefined;
  for (const name in body) if (isGatewayOnly(name, nativeFields)) (found ??= []).push(name);
  return found ?? NO_NAMES;
}

function without(request: ProviderRequest, names: readonly string[]): ProviderRequest {
  return {
    ...request,
    document: request.document.with(Object.fromEntries(names.map((name) => [name, undefined]))),
  };
}

function withMetadata(request: ProviderRequest, metadata: unknown): ProviderRequest {
  if (!isObject(metadata)) return request;
  const rest: JsonObject = Object.fromEntries(
    Object.entries(metadata).filter(([name]) => !STEERING_METADATA.has(name)),
  );
  return Object.keys(rest).length === 0
    ? request
    : { ...request, document: request.document.with({ metadata: rest }) };
}

/** Throws `unsupported_parameter` for such a field when the target does not forward it. */
export function refuseSteering(
  body: JsonObject,
  target: Target,
  { name, translation }: ProviderInstance,
): void {
  const { steering } = translation.capabilities;
  const found = steering?.find(
    (field) => (body[field] ?? undefined) !== undefined && target.forward?.includes(field) !== true,
  );
  if (found === undefined) return;
  throw new GatewayError(
    "unsupported_parameter",
    `The field ${found} lets ${name} choose another model or tool. It is refused unless the target lists it in \`forward\`.`,
    { param: found },
  );
}
