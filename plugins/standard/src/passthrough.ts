/** The step `passthrough`: hands a native request to a provider, and its reply back, byte for byte. */

import { defineStep, pricedAs, writtenDocument } from "@sluice/kit";
import { runPassthrough } from "@sluice/kit/passthrough";
import { enterUpstream } from "@sluice/kit/transport";
import {
  type Authority,
  type Exchange,
  GatewayError,
  type HttpCall,
  type Identity,
  type ModelCatalog,
  type ProviderCatalog,
  type Target,
} from "@sluice/spec";
import { nativeEndpoint, nativeHeaders, nativeModel, nativeQuery } from "./native-request.ts";
import { refuseSteering } from "./steering.ts";
import { openUpstreams } from "./upstreams.ts";

/** What YAML says. */
export interface PassthroughConfig {
  readonly providers?: readonly string[];
}

/** The prefix that stands for the reference API: the first provider that is OpenAI's. */
const REFERENCE = "ref";
const REFERENCE_PLUGIN = "openai";

const NO_BODY = writtenDocument({});

export const passthrough = defineStep<PassthroughConfig>({
  name: "passthrough",
  stability: "beta",
  summary: "Hands native requests to a provider and its replies back, byte for byte. Ends the pipeline.",
  config: {
    type: "object",
    properties: {
      providers: {
        type: "array",
        items: { type: "string" },
        description: "Names of the providers that may be reached. Absent: every configured one. Example: `[openai]`.",
      },
    },
  },
  operations: ["passthrough"],
  terminal: true,
  requires: [{ capability: "identity", reason: "an upstream call spends somebody's money" }],
  create(config, host) {
    const upstreams = openUpstreams(host);
    const { authority, clock, models, providers } = host;
    return {
      async run({ exchange }) {
        const { client, request } = exchange;
        const name = providerName(client.parameters.provider ?? "", providers);
        const found = upstreams.get(name);
        const isAllowed = config.providers === undefined || config.providers.includes(name);
        const translation = found?.instance.translation;
        if (found === undefined || !isAllowed || translation?.passthrough === undefined) {
          throw new GatewayError("route_not_found", "This path does not exist.");
        }
        const endpoint = nativeEndpoint(client);
        const native = {
          method: client.method as HttpCall["method"],
          endpoint,
          query: nativeQuery(client.query),
          headers: nativeHeaders(client),
          body: request?.raw,
        };
        const named = nativeModel(request?.model ?? "", endpoint);
        const target = targetOf(name, named === "" ? (translation.nativeModel?.(native) ?? "") : named);
        checkModel(exchange, target, { authority, models });
        if (request !== undefined && translation.capabilities.steering !== undefined)
          refuseSteering(request.document.value, asConfigured(target, models), found.instance);
        const call = translation.passthrough(native);
        const entering = enterUpstream(exchange, found, target, request?.document ?? NO_BODY);
        const place = entering instanceof Promise ? await entering : entering;
        const attempt = exchange.beginAttempt(target, pricedAs(found.instance));
        const { upstream, instance: provider } = found;
        exchange.reply = await runPassthrough({ provider, upstream, call, attempt, place, signal: exchange.signal, clock });
      },
    };
  },
});

function providerName(prefix: string, providers: ProviderCatalog): string {
  if (prefix !== REFERENCE) return prefix;
  return providers.names().find((name) => providers.find(name)?.use === REFERENCE_PLUGIN) ?? "";
}

/** The target as the catalogue has it, where it does. */
function asConfigured(target: Target, models: ModelCatalog): Target {
  for (const { targets } of models.list()) {
    const known = targets.find(({ id }) => id === target.id);
    if (known !== undefined) return known;
  }
  return target;
}

function targetOf(provider: string, model: string): Target {
  return { id: model === "" ? provider : `${provider}/${model}`, provider, model };
}

/**
 * A key that is limited to models may reach those only: a catalogue model it may use must have this target, or its list
 * must name `provider/model`. A request that names no model is not for such a key.
 */
function checkModel(
  exchange: Exchange,
  target: Target,
  rules: { readonly authority: Authority; readonly models: ModelCatalog },
): void {
  const { identity } = exchange;
  if (identity === undefined) throw new GatewayError("permission_denied", "Only a key can reach a provider.");
  if (mayUseEverything(identity)) return;
  if (target.model === "") {
    throw new GatewayError("permission_denied", "This key is limited to models, and the request names none.", { param: "model" });
  }
  const direct = rules.models.find(target.id) ?? {
    id: target.id,
    entry: target.id,
    mode: "chat" as const,
    targets: [target],
    accessGroups: [],
    ownedBy: target.provider,
  };
  const candidates = [direct, ...rules.models.list().filter(({ targets }) => targets.some(({ id }) => id === target.id))];
  if (candidates.some((model) => rules.authority.mayUse(identity, model))) return;
  throw new GatewayError(
    "model_not_found",
    `The model ${JSON.stringify(target.model.slice(0, 200))} does not exist or you may not use it.`,
    {
      param: "model",
    },
  );
}

function mayUseEverything(identity: Identity): boolean {
  return identity.kind === "master" || (identity.models.length === 0 && (identity.teamModels ?? []).length === 0);
}
