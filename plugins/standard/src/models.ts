/** The step `models`: the models that a key may use. */

import { defineStep, jsonReply } from "@sluice/kit";
import type { Model } from "@sluice/spec";

export const models = defineStep<Record<string, never>>({
  name: "models",
  stability: "beta",
  summary: "Answers with the models the key may use. Ends the pipeline.",
  config: { type: "object", properties: {} },
  operations: ["models"],
  terminal: true,
  requires: [{ capability: "identity", reason: "which models are listed depends on the key" }],
  create(_config, { authority, models: catalog, clock }) {
    const createdSeconds = Math.floor(clock.now() / 1000);
    const item = ({ id, ownedBy }: Model) => ({ id, object: "model", created: createdSeconds, owned_by: ownedBy });
    return {
      async run({ exchange }) {
        const { identity } = exchange;
        // A wildcard stands for models whose names are not known here: it is not an id that a request may name.
        const visible = catalog.list().filter((model) => !model.id.endsWith("*"));
        const data = visible.filter((model) => identity !== undefined && authority.mayUse(identity, model)).map(item);
        exchange.reply = jsonReply({ object: "list", data });
      },
    };
  },
});
