/**
 * The step `balance`: chooses the target of a request, tries another after a failure, and ejects
 * targets that keep failing.
 */

import { defineStep } from "@sluice/kit";
import { DEPLOYMENTS_KEY } from "@sluice/contract";
import { type BalanceConfig, balanceSchema, breakerSettings } from "./config.ts";
import { openGroups } from "./open-groups.ts";
import { Selection, type SelectionTerms } from "./selection.ts";
import { Deployments } from "../deployments/deployment.ts";
import { openTargetTokens } from "../limits/target-tokens.ts";

export const balance = defineStep<BalanceConfig>({
  name: "balance",
  stability: "beta",
  summary:
    "Chooses the target of a request, tries another one when it fails, and ejects deployments that keep failing.",
  config: balanceSchema,
  check: ({ sticky_by: by, sticky_header: header }) =>
    (by === "header") === (header !== undefined)
      ? []
      : [
          {
            path: [header === undefined ? "sticky_by" : "sticky_header"],
            message: "`sticky_by: header` and `sticky_header` belong together",
            fix: "write both, or none",
          },
        ],
  operations: ["chat", "embeddings", "images"],
  traits: { reentrant: true },
  order: {
    provides: ["target"],
    requires: [
      { capability: "identity", reason: "the targets are those of a model that the key may use" },
    ],
    before: [
      {
        capability: "retry",
        reason:
          "a retry repeats the call to the same target, and here each retry would choose a new one",
      },
    ],
  },
  create(config, host) {
    const { clock, log, models } = host;
    const settings = breakerSettings(config.breaker);
    const tokens = openTargetTokens(host);
    const registry = host.shared(DEPLOYMENTS_KEY, () => new Deployments(tokens));
    const groups = openGroups(host, registry, settings);
    const terms: SelectionTerms = {
      settings,
      book: registry.book,
      log,
      clock,
      models,
      strategy: config.strategy,
      stickyBy: config.sticky_by,
      stickyHeader: config.sticky_header?.toLowerCase() ?? "",
      maxTargets: config.targets,
    };
    return {
      async run({ exchange }, next) {
        const { model } = exchange;
        const group = model === undefined ? undefined : groups.get(model.entry);
        // The step `provider` reports a model without a target.
        if (model === undefined || group === undefined || model.targets.length === 0) return next();
        const selection = new Selection(terms, exchange, model, group);
        for (;;) {
          const member = selection.choose();
          if (!selection.takeSlot(member) && !(await selection.waitForSlot(member))) continue;
          const lease = selection.lease(member);
          try {
            await next();
          } catch (error) {
            lease.fail();
            selection.fail(error);
            continue;
          }
          lease.succeed();
          return;
        }
      },
    };
  },
});
