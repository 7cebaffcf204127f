/** The step `guardrails`: checks every text of a request and of its reply. */

import { defineStep } from "@sluice/kit";
import type { Exchange, Host } from "@sluice/contract";
import { type GuardReply, replyOrAnother } from "./again.ts";
import { DEFAULT_MAX_HELD, type GuardrailsConfig, guardrailsSchema } from "./config.ts";
import { ExchangeGuards, hasOwnGuardrails, type StepGuards } from "./exchange-guards.ts";
import { guardReply } from "./reply.ts";
import { guardRequest } from "./request.ts";
import { Runners } from "./runners.ts";

export const guardrails = defineStep<GuardrailsConfig>({
  name: "guardrails",
  stability: "beta",
  summary:
    "Checks every text of a request and of its reply, also in streams: allows, edits or blocks it.",
  config: guardrailsSchema,
  operations: ["chat", "embeddings", "images", "passthrough"],
  check: (config) =>
    asksAgain(config) && config.stream !== "hold"
      ? [
          {
            path: ["ask_again"],
            message:
              "`ask_again` needs `stream: hold`: a text that the client has read cannot be withdrawn",
            fix: "write `stream: hold`, or remove `ask_again`",
          },
        ]
      : [],
  traits: { reentrant: asksAgain },
  order: {
    provides: ["guardrails"],
    requires: [{ capability: "identity", reason: "keys and teams have guardrails of their own" }],
    before: [{ capability: "cached_reply", reason: "a cached reply would skip the check" }],
  },
  inspect: (config) => {
    const { input = [], output = [], stream = "window" } = config;
    return { guardrails: { input, output, stream, asksAgain: asksAgain(config) } };
  },
  create(config, host) {
    const always = alwaysOn(host);
    const fixed = {
      input: [...new Set([...always, ...(config.input ?? [])])],
      output: [...new Set([...always, ...(config.output ?? [])])],
    };
    const step: StepGuards = { fixed, runners: new Runners(host, config.scope), host };
    const isIdle = fixed.input.length === 0 && fixed.output.length === 0;
    const passing = { ...config, max_held: config.max_held ?? DEFAULT_MAX_HELD, keepsWhole: false };
    const keeping = { ...passing, keepsWhole: true };
    return {
      enter: (exchange) => !isIdle || hasOwnGuardrails(exchange),
      async run({ exchange }, next) {
        const guards = new ExchangeGuards(exchange, step);
        guards.announce();
        await guardRequest(exchange, config, {
          set: guards.input(),
          vault: guards.vault,
          forwardsNotes: forwardsNotes(exchange, host),
        });
        const guard: GuardReply = (mayAskAgain) =>
          guardReply(exchange, guards.output(mayAskAgain), mayAskAgain ? keeping : passing);
        if (asksAgain(config)) {
          exchange.reply = await replyOrAnother(exchange, next, guard);
          return;
        }
        await next();
        exchange.reply = await guard(false);
      },
    };
  },
});

function asksAgain({ ask_again: isAsking }: GuardrailsConfig): boolean {
  return isAsking === true;
}

function alwaysOn({ guardrails: catalog }: Host): readonly string[] {
  return catalog
    .list()
    .filter(({ settings }) => settings.defaultOn)
    .map(({ name }) => name);
}

/** Whether some target may get the request's metadata: a fallback may go to any of them. */
function forwardsNotes({ request }: Exchange, { models }: Host): boolean {
  if (request?.fields.metadata === undefined) return false;
  return models
    .list()
    .some(({ targets }) => targets.some(({ forwardMetadata }) => forwardMetadata === true));
}
