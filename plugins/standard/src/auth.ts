/** The step `auth`: who sent the request, and whether they may use the model they name. */

import { defineStep } from "@sluice/kit";
import {
  type Authority,
  type ClientRequest,
  GatewayError,
  type GatewayRequest,
  type Identity,
  type ModelCatalog,
  type Operation,
} from "@sluice/spec";

/** One answer for every way a key can be wrong: it tells nobody which keys exist. */
const REFUSAL = "The API key is missing or not valid. Send it as: Authorization: Bearer sk-…";

/** Operations whose request names a model of the catalogue. */
const NAMES_MODEL: ReadonlySet<Operation> = new Set<Operation>(["chat", "embeddings", "images"]);

export const auth = defineStep<Record<string, never>>({
  name: "auth",
  stability: "stable",
  summary: "Authenticates the key from the headers, and refuses models that it may not use.",
  config: { type: "object", properties: {} },
  early: true,
  provides: ["identity"],
  create(_config, host) {
    const { authority, models } = host;
    return {
      async run({ exchange }, next) {
        const found = authority.identify(presentedKey(exchange.client, authority.headerNames));
        const identity = found instanceof Promise ? await found : found;
        if (identity === undefined) throw new GatewayError("authentication_failed", REFUSAL);
        exchange.identity = identity;
        // The body is read for those who may send one.
        await exchange.receive();
        if (exchange.request !== undefined && NAMES_MODEL.has(exchange.operation))
          exchange.model = visibleModel(exchange.request, identity, models, authority);
        await next();
      },
    };
  },
});

/** The one key of a request. Two different ones are as good as none. */
function presentedKey(client: ClientRequest, headerNames: readonly string[]): string {
  let presented: string | undefined;
  for (const name of headerNames) presented = agree(presented, client.header(name)?.replace(/^Bearer\s+/i, ""));
  const authorization = client.header("authorization");
  if (authorization !== undefined) {
    const [, key] = /^Bearer\s+(\S+)\s*$/i.exec(authorization) ?? [];
    if (key === undefined) throw new GatewayError("authentication_failed", REFUSAL);
    presented = agree(presented, key);
  }
  if (presented === undefined || presented === "") throw new GatewayError("authentication_failed", REFUSAL);
  return presented;
}

function agree(first: string | undefined, second: string | undefined): string | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (first !== second) throw new GatewayError("authentication_failed", REFUSAL);
  return first;
}

/**
 * A model that exists and that the key may use: the one that is named, else the first of the other ids that the request
 * may mean. The same answer for both refusals: no oracle.
 */
function visibleModel(request: GatewayRequest, identity: Identity, models: ModelCatalog, authority: Authority) {
  const named = models.find(request.model);
  if (named !== undefined && authority.mayUse(identity, named)) return named;
  for (const id of request.otherModels ?? []) {
    const other = models.find(id);
    if (other !== undefined && authority.mayUse(identity, other)) return other;
  }
  throw new GatewayError(
    "model_not_found",
    `The model ${JSON.stringify(request.model.slice(0, 200))} does not exist or you may not use it.`,
    { param: "model" },
  );
}
