/**
 * The step `model-info`: the facts of the models that a key may use, without credentials and
 * upstream addresses.
 */

import { defineStep, jsonReply } from "@sluice/kit";
import type { Host, JsonObject, Model } from "@sluice/contract";
import { callerOf } from "./index.ts";
import { modelInfoOf } from "./facts.ts";
import { readModelsQuery, viewerOf } from "./query.ts";
import { createModelView } from "./visible.ts";
import { invalidParameter } from "@sluice/runtime";

export const modelInfo = defineStep<Record<string, never>>({
  name: "model-info",
  stability: "stable",
  summary:
    "Answers with targets, prices, limits and capabilities of the models the key may use. Ends the pipeline.",
  config: { type: "object", properties: {} },
  operations: ["models"],
  traits: { terminal: true },
  order: {
    requires: [{ capability: "identity", reason: "which models are shown depends on the key" }],
  },
  create(_config, host) {
    const view = createModelView(host);
    return {
      async run({ exchange }) {
        const query = readModelsQuery(exchange.client.query);
        const viewer = await viewerOf(callerOf(exchange), query.teamId, host.authority);
        const shown = [
          ...view.models(viewer),
          ...(query.withWildcards ? view.wildcards(viewer) : []),
        ];
        exchange.reply = jsonReply({
          data: chosen(shown, query.deploymentId).map((model) => itemOf(model, host)),
        });
      },
    };
  },
});

/**
 * All models, or those of one id: a model's own, or that of a target. Throws `invalid_field` when
 * there is none.
 */
function chosen(shown: readonly Model[], id: string | undefined): readonly Model[] {
  if (id === undefined) return shown;
  const found = shown.filter(
    (model) => model.id === id || model.targets.some((target) => target.id === id),
  );
  if (found.length === 0)
    throw invalidParameter(
      "litellm_model_id",
      "No model or target of this key has this litellm_model_id. GET /v1/models lists the key's models.",
    );
  return found;
}

function itemOf(model: Model, host: Host): JsonObject {
  return {
    model_name: model.id,
    // Tools for LiteLLM read these fields: the target's public name, without its credential or
    // address.
    ...(model.targets[0] === undefined ? {} : { litellm_params: { model: model.targets[0].id } }),
    targets: model.targets.map(({ provider, model: name }) => ({ provider, model: name })),
    model_info: modelInfoOf(model, host),
  };
}
