/** The step `auth`: identifies the caller, and checks its permission for the named model. */

import { defineStep, passOn } from "@sluice/kit";
import { leftOutByTags, receiveBody } from "@sluice/runtime";
import {
  type Authority,
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type Host,
  type Identity,
  type Model,
  type ModelMode,
  type Operation,
} from "@sluice/contract";
import { withoutAliases } from "../models/alias.ts";
import { modelNotFound } from "../models/not-found.ts";
import { nameCustomer } from "./customer.ts";
import { foreignTag } from "../limits/rules/foreign-tag.ts";
import { servableModel } from "../models/servable.ts";

/** One answer for every kind of invalid key: it does not reveal which keys exist. */
const REFUSAL =
  "The API key is missing or not valid; keys belong in a header. Send it as: Authorization: Bearer sk-…";

/** Headers in which native SDKs send the key: on deployment and passthrough routes. */
const NATIVE_HEADERS: readonly string[] = ["api-key", "x-api-key", "x-goog-api-key"];

/** Names under which keys are put into a query, where logs and proxies see them. */
const QUERY_KEY = /(?:^|&)(?:x-)?(?:key|api[-_]?key|access_token|token)=/i;

/** The logged kind of an identity. */
const KINDS = { master: "the master key", key: "a virtual key" } as const;

const NO_NAMES: readonly string[] = Object.freeze([]);

/** Operations whose request names a model of the catalogue. */
const NAMES_MODEL: ReadonlySet<Operation> = new Set<Operation>([
  "chat",
  "embeddings",
  "images",
  "tokens",
]);

/** The routes for models of a mode. */
const ROUTES: Readonly<
  Partial<Record<ModelMode, { readonly operation: Operation; readonly path: string }>>
> = {
  embedding: { operation: "embeddings", path: "POST /v1/embeddings" },
  image: { operation: "images", path: "POST /v1/images/generations" },
};

const MAX_CHARACTERS = 200;

export const auth = defineStep<Record<string, never>>({
  name: "auth",
  stability: "stable",
  summary: "Authenticates the key in the headers, and refuses models that the key may not use.",
  config: { type: "object", properties: {} },
  traits: { early: true },
  order: {
    provides: ["identity"],
  },
  create(_config, host) {
    const { authority } = host;
    return {
      async enter(exchange) {
        const found = authority.identify(presentedKey(exchange, authority.headerNames));
        const identity = found instanceof Promise ? await found : found;
        if (identity === undefined) throw refused();
        exchange.identity = identity;
        exchange.note("auth", KINDS[identity.kind]);
        // The body is read only for callers that may send one.
        await receiveBody(exchange);
        const named = nameCustomer(exchange, identity, authority);
        if (named instanceof Promise) await named;
        const tags = exchange.request?.tags ?? NO_NAMES;
        if (tags.length > 0) await checkTags(exchange.identity, tags, authority);
        if (exchange.request !== undefined && NAMES_MODEL.has(exchange.operation)) {
          exchange.request = withoutAliases(exchange.request, exchange.identity);
          exchange.model = ofOperation(
            visibleModel(exchange, exchange.request, exchange.identity, host),
            exchange.operation,
          );
        }
        return false;
      },
      run: passOn,
    };
  },
});

/**
 * A tag on a record belongs to that record: its spend is charged to the record. Throws
 * `permission_denied` for a tag of another record.
 */
async function checkTags(
  identity: Identity,
  tags: readonly string[],
  authority: Authority,
): Promise<void> {
  const found = authority.foreignTag(identity, tags);
  const tag = found instanceof Promise ? await found : found;
  if (tag !== undefined) throw foreignTag(tag);
}

/** The only key of a request. Two different keys, or a key in the query, count as invalid. */
function presentedKey({ client, operation }: Exchange, headerNames: readonly string[]): string {
  let presented: string | undefined;
  for (const name of headerNames) presented = agree(presented, bareKey(client.header(name)));
  const isNative = operation === "passthrough" || client.parameters.deployment !== undefined;
  for (const name of isNative ? NATIVE_HEADERS : (client.keyHeaders ?? NO_NAMES))
    presented = agree(presented, bareKey(client.header(name)));
  const authorization = client.header("authorization");
  if (authorization !== undefined) {
    const [, key] = /^Bearer\s+(\S+)\s*$/i.exec(authorization) ?? [];
    // A signature or a password is not a credential of the gateway: it does not invalidate a key in
    // another header.
    if (key === undefined && presented === undefined) throw refused();
    presented = agree(presented, key);
  }
  if (presented === undefined || presented === "") throw refused();
  // A native query is cleaned of keys on its way; `api_key` of a spend query is a filter.
  if (
    client.query !== "" &&
    operation !== "passthrough" &&
    operation !== "spend" &&
    QUERY_KEY.test(client.query)
  )
    throw refused();
  return presented;
}

function bareKey(value: string | undefined): string | undefined {
  return value?.replace(/^Bearer\s+/i, "");
}

function refused(): GatewayError {
  return new GatewayError("authentication_failed", REFUSAL);
}

function agree(first: string | undefined, second: string | undefined): string | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (first !== second) throw refused();
  return first;
}

/**
 * A model whose mode matches the route. Entries with the default mode are not checked, because
 * their mode may be unset. Throws `invalid_field` for another mode, after the key's access to the
 * model is checked.
 */
function ofOperation(model: Model, operation: Operation): Model {
  const own = ROUTES[model.mode];
  if (own === undefined || own.operation === operation) return model;
  const shown = JSON.stringify(model.id.slice(0, MAX_CHARACTERS));
  throw new GatewayError(
    "invalid_field",
    `The model ${shown} is for ${own.operation}: send the request to ${own.path}.`,
    {
      param: "model",
    },
  );
}

/**
 * A servable model that the key may use, with the targets for the tags of the request: the named
 * one, else the first of the other ids that the request may mean. Every refusal has the same
 * answer, so it reveals nothing.
 */
function visibleModel(
  exchange: Exchange,
  request: GatewayRequest,
  identity: Identity,
  host: Pick<Host, "authority" | "models">,
): Model {
  const named = modelFor(exchange, request.model, identity, host);
  if (named !== undefined) return named;
  for (const id of request.otherModels ?? []) {
    const other = modelFor(exchange, id, identity, host);
    if (other !== undefined) return other;
  }
  throw modelNotFound(request.model);
}

function modelFor(
  exchange: Exchange,
  id: string,
  identity: Identity,
  host: Pick<Host, "authority" | "models">,
): Model | undefined {
  const found = host.models.find(id);
  if (found === undefined) return undefined;
  const model = servableModel(identity, found, host, exchange.request);
  if (model !== found && found.tagRouting !== undefined) {
    for (const target of leftOutByTags(found, model))
      exchange.note("auth", "left out by tags", target.id);
  }
  return model;
}
