/** The step `passthrough`: forwards a native request and returns the reply, byte for byte. */

import { defineStep } from "@sluice/kit";
import { pricedAs } from "@sluice/runtime";
import { endingOf, writtenDocument } from "@sluice/kit/internals";
import { gatewayFieldKind } from "@sluice/runtime/dialect";
import { Native } from "@sluice/kit/passthrough";
import { runPassthrough } from "@sluice/runtime/passthrough";
import { beginAttemptAt, enterUpstream, withCallHeaders } from "@sluice/runtime/transport";
import {
  type ClientRequest,
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type Host,
  type HttpCall,
  type Identity,
  type ImageUsage,
  type JsonObject,
  type NativeUsage,
  type PassthroughRequest,
  type Price,
  type Provider,
  type ProviderCatalog,
  type ProviderInstance,
  type Target,
} from "@sluice/contract";
import {
  checkModel,
  createNativeAccess,
  type NativeAccess,
  type NativePlace,
  placeOf,
} from "./access.ts";
import { cutMembers } from "./cut.ts";
import { limitedModel } from "./limited.ts";
import { checkModelsInBody, checkModelsInQuery } from "./path-model.ts";
import { asJson, checkIsRead, isForm, namingMembers } from "./read-body.ts";
import {
  checkSlashes,
  markedModel,
  nativeEndpoint,
  nativeHeaders,
  nativeQuery,
} from "./request.ts";
import type { ModelRules } from "../models/bounds.ts";
import { type ConfiguredTargets, createConfiguredTargets } from "../models/configured.ts";
import { modelNotFound } from "../models/not-found.ts";
import { checkToolModels } from "../models/tool-models.ts";
import { checkAccountObjects } from "../provider/account-objects.ts";
import { refuseSteering } from "../provider/parameters.ts";
import { openUpstreams, type ProviderUpstream } from "../provider/upstreams.ts";

/** The options as YAML has them. */
export interface PassthroughConfig {
  readonly providers?: readonly string[];
}

/** The prefix of the reference API: the first OpenAI provider serves it. */
const REFERENCE = "ref";
const REFERENCE_PLUGIN = "openai";

const NO_BODY = writtenDocument({});

/** Methods that are never billed. */
const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE"]);

/** The usage of endpoints that read the content of a conversation. */
const READS_CONTENT: ReadonlySet<NativeUsage> = new Set(["text", "prompt", "free"]);

/** The price of calls that the upstream does not bill. */
const FREE: Price = { free: true, source: "native endpoint" };

export const passthrough = defineStep<PassthroughConfig>({
  name: "passthrough",
  stability: "beta",
  summary:
    "Relays native requests to a provider and its replies to the client, byte for byte. Ends the pipeline.",
  config: {
    type: "object",
    properties: {
      providers: {
        type: "array",
        items: { type: "string" },
        description:
          "Names of the providers that clients may call. Absent: every configured one. Example: `[openai]`.",
      },
    },
  },
  operations: ["passthrough"],
  traits: { terminal: true },
  order: {
    requires: [{ capability: "identity", reason: "an upstream call is charged to a key" }],
  },
  create(config, host) {
    const reachable = reachableProviders(config, host);
    const { authority, clock, models, providers } = host;
    const rules = { authority, models };
    const targets = createConfiguredTargets(rules);
    return {
      async run({ exchange }) {
        const { client, identity, request } = exchange;
        if (identity === undefined)
          throw new GatewayError("permission_denied", "Native routes need a key.");
        const prefix = client.parameters.provider ?? "";
        const name = providerName(prefix, providers);
        const found = reachable.get(name);
        if (found === undefined)
          throw new GatewayError("route_not_found", "This path does not exist.");
        const { upstream, instance: provider, access, callOf } = found;
        const { translation } = provider;
        const native = nativeRequest(exchange, identity, translation);
        const wanted = callOf(native);
        const place = placeOf(access, wanted, identity);
        const endpoint = place.match?.endpoint;
        checkSlashes(native.endpoint, endpoint?.hasSlashes === true);
        const model = passthroughModel(native, place, request, translation);
        if (endpoint !== undefined) checkModelsInQuery(model, native.query);
        const usage = usageOf(native.method, place, access);
        const isRead = endpoint !== undefined || READS_CONTENT.has(usage);
        const body = namingMembers(native, endpoint, request);
        const parts = { provider, usage, targets, rules, body, isRead };
        const target = checkedTarget(exchange, parts, targetOf(name, model));
        if (isRead) checkIsRead(request, endpoint, native.headers["content-type"]);
        // The row has the requested model, from the path or the body.
        if (request !== undefined && model !== request.model)
          exchange.request = { ...request, model };
        const typed = isRead ? asJson(wanted, request?.document.value) : wanted;
        const call =
          endpoint === undefined
            ? typed
            : withoutGatewayFields(exchange, typed, translation.capabilities);
        const entering = enterUpstream(exchange, found, target, request?.document ?? NO_BODY);
        const entry = entering instanceof Promise ? await entering : entering;
        const attempt = await beginAttemptAt(entry, exchange, target, pricedAs(provider));
        attempt.reserve(entry.admission?.reserved);
        exchange.reply = await runPassthrough({
          provider,
          upstream,
          call: withCallHeaders(exchange, provider, call),
          attempt,
          place: entry.place,
          signal: endingOf(exchange),
          clock,
          usage,
          generates: endpoint?.usage === "text",
          address: gatewayAddress(client, prefix),
          images: imageTraits(request?.document.value),
        });
      },
    };
  },
});

/** A provider that clients may call natively. */
interface NativeProvider extends ProviderUpstream {
  readonly access: NativeAccess;
  readonly callOf: (request: PassthroughRequest) => HttpCall;
}

/** The providers with a native interface, of those that the options name. */
function reachableProviders(
  { providers: allowed }: PassthroughConfig,
  host: Host,
): ReadonlyMap<string, NativeProvider> {
  const reachable = new Map<string, NativeProvider>();
  for (const [name, found] of openUpstreams(host)) {
    const { translation } = found.instance;
    const callOf = translation.passthrough?.bind(translation);
    if (callOf === undefined || allowed?.includes(name) === false) continue;
    reachable.set(name, { ...found, access: createNativeAccess(found.instance), callOf });
  }
  return reachable;
}

function nativeRequest(
  { client, request }: Exchange,
  { keyId }: Identity,
  { native }: Provider,
): PassthroughRequest {
  return {
    method: client.method as HttpCall["method"],
    endpoint: nativeEndpoint(client),
    query: nativeQuery(client.query),
    headers: nativeHeaders(client, keyId, native),
    body: request?.raw,
  };
}

function providerName(prefix: string, providers: ProviderCatalog): string {
  if (prefix !== REFERENCE) return prefix;
  return providers.names().find((name) => providers.find(name)?.use === REFERENCE_PLUGIN) ?? "";
}

function targetOf(provider: string, model: string): Target {
  return { id: model === "" ? provider : `${provider}/${model}`, provider, model };
}

interface TargetParts {
  readonly provider: ProviderInstance;
  readonly usage: NativeUsage;
  readonly targets: ConfiguredTargets;
  readonly rules: ModelRules;
  /** The members that name models and objects. */
  readonly body: JsonObject;
  /** Whether the body is checked for objects of the account. */
  readonly isRead: boolean;
}

/**
 * The target with the price of its calls: none for a free endpoint, else the configured one. Throws
 * for a model or a tool that the key may not use.
 */
function checkedTarget(exchange: Exchange, parts: TargetParts, target: Target): Target {
  const { identity } = exchange;
  const { provider, usage, targets, rules, body, isRead } = parts;
  if (identity === undefined) return target;
  checkModel(identity, target, rules);
  if (targets.isLeftOut(exchange, target.id) || targets.isReserved(identity, target.id))
    throw modelNotFound(target.model);
  const configured = target.model === "" ? undefined : targets.find(identity, target.id);
  refuseSteering(body, configured?.target ?? target, provider);
  checkToolModels(exchange, target.provider, body, parts);
  if (isRead) checkAccountObjects(body, provider, identity);
  // The limits of the model hold for its call.
  exchange.model = configured?.model ?? limitedModel(exchange, identity, target, rules.models);
  const price = usage === "free" ? FREE : configured?.target.price;
  return price === undefined ? target : { ...target, price };
}

/** The model of the path, or else of the body. Throws `invalid_field` when they differ. */
function passthroughModel(
  native: PassthroughRequest,
  { path, match }: NativePlace,
  request: GatewayRequest | undefined,
  translation: Provider,
): string {
  const { headers } = native;
  switch (match?.endpoint.model) {
    case "none":
      return "";
    case "provider":
      return translation.nativeModel?.(native) ?? "";
    case "body": {
      const named = request?.model ?? "";
      // A JSON object has no parts, whatever its content type says.
      if (named !== "" || !isForm(headers["content-type"])) return named;
      return Native.formField(native, "model") ?? "";
    }
    default: {
      const inPath = match?.model ?? markedModel(path);
      if (inPath === "") return request?.model ?? "";
      if (request !== undefined) checkModelsInBody(inPath, request.document.value);
      return inPath;
    }
  }
}

/** The call without gateway-only members. The reply lists the ones that have no effect. */
function withoutGatewayFields(
  exchange: Exchange,
  call: HttpCall,
  { nativeFields = [] }: Provider["capabilities"],
): HttpCall {
  const cut = exchange.request?.cut?.filter((name) => !nativeFields.includes(name)) ?? [];
  if (cut.length === 0 || !(call.body instanceof Uint8Array)) return call;
  const dropped = cut.filter((name) => gatewayFieldKind(name) !== "own");
  if (dropped.length > 0) exchange.headers.set("x-sluice-dropped-params", dropped.join(", "));
  return { ...call, body: cutMembers(call.body, cut) };
}

/** The meter of the reply's usage. Read-only calls are not billed. */
function usageOf(method: string, { match }: NativePlace, { declares }: NativeAccess): NativeUsage {
  if (match !== undefined) return match.endpoint.usage;
  if (READING.has(method)) return "free";
  return declares ? "reported" : "text";
}

/** The size and quality of images, where a body names them. */
function imageTraits({ size, quality }: JsonObject = {}): Omit<ImageUsage, "count"> {
  return {
    ...(typeof size === "string" ? { size } : {}),
    ...(typeof quality === "string" ? { quality } : {}),
  };
}

/** The gateway's address of a provider as the client wrote it; `undefined` without one. */
function gatewayAddress(client: ClientRequest, prefix: string): string | undefined {
  const host = client.header("host");
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  const scheme =
    client.header("x-forwarded-proto")?.split(",")[0]?.trim() === "https" ? "https" : "http";
  return `${scheme}://${host}/${prefix}`;
}
