/** The step `models`: the models that a key may use, or one of them. */

import { defineStep, jsonReply } from "@sluice/kit";
import {
  type Exchange,
  GatewayError,
  type Host,
  type Identity,
  type JsonObject,
  type Model,
} from "@sluice/contract";
import { modelNotFound } from "./not-found.ts";
import { contextWindowOf, pricingOf } from "./facts.ts";
import { type ModelsQuery, readModelsQuery, viewerOf } from "./query.ts";
import { type AccessGroup, createModelView, type ModelView } from "./visible.ts";

/**
 * `created` of every model, in seconds since 1970. A configuration has no date of a model, and a
 * date that changed with every start would look like a new model to clients that compare lists. The
 * value is LiteLLM's constant.
 */
const CREATED = 1_677_610_602;

export const models = defineStep<Record<string, never>>({
  name: "models",
  stability: "stable",
  summary:
    "Answers with the models that the key may use, or with the model in the path's `{model_id...}`. Ends the pipeline.",
  config: { type: "object", properties: {} },
  operations: ["models"],
  traits: { terminal: true },
  order: {
    requires: [{ capability: "identity", reason: "which models are listed depends on the key" }],
  },
  create(_config, host) {
    const view = createModelView(host);
    return {
      async run({ exchange }) {
        const query = readModelsQuery(exchange.client.query);
        const viewer = await viewerOf(callerOf(exchange), query.teamId, host.authority);
        const id = exchange.client.parameters.model_id;
        exchange.reply = jsonReply(
          id === undefined
            ? { object: "list", data: list(view, viewer, query, host) }
            : one(view, viewer, decodeId(id), query, host),
        );
      },
    };
  },
});

/**
 * The identity of the caller. Throws `permission_denied` without one, which the order of the steps
 * excludes.
 */
export function callerOf({ identity }: Exchange): Identity {
  if (identity === undefined)
    throw new GatewayError(
      "permission_denied",
      "The list of models needs a key. Send one in the authorization header.",
    );
  return identity;
}

function list(view: ModelView, viewer: Identity, query: ModelsQuery, host: Host): JsonObject[] {
  const items = new Map<string, JsonObject>();
  if (query.groups !== "only") {
    const wildcards = query.withWildcards ? view.wildcards(viewer) : [];
    for (const model of [...view.models(viewer), ...wildcards]) {
      items.set(
        model.id,
        query.withMetadata ? described(model, view, viewer, query, host) : itemOf(model),
      );
    }
  }
  for (const group of query.groups === "without" ? [] : view.groups(viewer)) {
    if (!items.has(group.name))
      items.set(group.name, query.withMetadata ? describedGroup(group) : groupItem(group));
  }
  return [...items.values()];
}

function one(
  view: ModelView,
  viewer: Identity,
  id: string,
  query: ModelsQuery,
  host: Host,
): JsonObject {
  const model = view.named(viewer, id);
  if (model === undefined) throw modelNotFound(id);
  return described(model, view, viewer, query, host);
}

function itemOf({ id, ownedBy }: Pick<Model, "id" | "ownedBy">): JsonObject {
  return { id, object: "model", created: CREATED, owned_by: ownedBy };
}

function groupItem({ name, ownedBy }: AccessGroup): JsonObject {
  return itemOf({ id: name, ownedBy });
}

/** An item with metadata. It omits fallbacks and groups that the viewer may not use. */
function described(
  model: Model,
  view: ModelView,
  viewer: Identity,
  query: ModelsQuery,
  host: Host,
): JsonObject {
  const groups = new Set(view.groups(viewer).map(({ name }) => name));
  const fallbacks = model.fallbacks?.[query.fallbackClass] ?? [];
  return {
    ...itemOf(model),
    metadata: {
      fallbacks: fallbacks.filter((id) => view.find(viewer, id) !== undefined),
      mode: model.mode,
      access_groups: model.accessGroups.filter((name) => groups.has(name)),
      pricing: pricingOf(model, host),
      context_window: contextWindowOf(model, host),
    },
  };
}

function describedGroup(group: AccessGroup): JsonObject {
  const metadata = {
    fallbacks: [],
    mode: null,
    access_groups: [],
    pricing: null,
    context_window: null,
  };
  return { ...groupItem(group), metadata };
}

/**
 * An id from the path, its slashes raw or percent-encoded. One that is not well encoded stands for
 * itself.
 */
function decodeId(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
