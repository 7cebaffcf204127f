/** The step `tokens`: answers with the number of tokens of a prompt. It calls no upstream. */

import { defineStep, jsonReply } from "@sluice/kit";
import { countPrompt } from "@sluice/runtime/openai";

/** Says that the count is that of the gateway's own encoding: models count differently. */
const ESTIMATE_HEADER = "x-sluice-token-count";

export const tokens = defineStep<Record<string, never>>({
  name: "tokens",
  stability: "beta",
  summary:
    "Answers with the tokens of the request's prompt, counted with `o200k_base`: an estimate for other models. Ends the pipeline.",
  config: { type: "object", properties: {} },
  operations: ["tokens"],
  traits: { terminal: true },
  order: {
    requires: [{ capability: "identity", reason: "a count uses the processor of the gateway" }],
  },
  create(_config, host) {
    return {
      async run({ exchange }) {
        const body = exchange.request?.document.value ?? {};
        const count = await countPrompt(body, host.tokens);
        exchange.headers.set(ESTIMATE_HEADER, "estimated");
        exchange.reply = jsonReply({ object: "token_count", input_tokens: count.tokens });
      },
    };
  },
});
