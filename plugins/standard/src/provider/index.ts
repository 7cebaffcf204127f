/** The step `provider`: calls the model's target and sets its reply. */

import { defineStep } from "@sluice/kit";
import {
  checkCommitAfter,
  type CommitAfterConfig,
  commitAfterOf,
  commitAfterSchema,
} from "./commit-after.ts";
import { type CallTerms, ProviderCall } from "./provider-call.ts";
import { openUpstreams } from "./upstreams.ts";

/** Options of the step `provider`. */
export interface ProviderConfig {
  readonly drop_params: boolean;
  readonly commit_after?: CommitAfterConfig;
}

export const provider = defineStep<ProviderConfig>({
  name: "provider",
  stability: "stable",
  summary: "Calls the target that a step has chosen, else the model's first. Ends the pipeline.",
  config: {
    type: "object",
    properties: {
      drop_params: {
        type: "boolean",
        default: false,
        description:
          "Drops parameters that a provider cannot honour, and lists them in `x-sluice-dropped-params`; else they are refused.",
      },
      commit_after: commitAfterSchema,
    },
  },
  check: (config) => checkCommitAfter(config.commit_after),
  operations: ["chat", "embeddings", "images"],
  traits: { terminal: true },
  order: {
    requires: [{ capability: "identity", reason: "an upstream call is charged to a key" }],
  },
  create(config, host) {
    const terms: CallTerms = {
      host,
      upstreams: openUpstreams(host),
      dropsParameters: config.drop_params,
      commitAfter: commitAfterOf(config.commit_after),
    };
    return {
      async run({ exchange }) {
        const call = new ProviderCall(terms, exchange);
        if (call.needsMedia) await call.inlineMedia();
        const waiting = call.setBounds();
        if (waiting !== undefined) await waiting;
        exchange.reply = await call.reply();
      },
    };
  },
});
