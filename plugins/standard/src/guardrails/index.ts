/**
 * The step `guardrails`: checks every text of a request and of its reply, by the guardrails of
 * the step, of the key and of the request.
 */

import { defineStep } from "@sluice/kit";
import type { Exchange, Host } from "@sluice/contract";
import { type GuardReply, replyOrAnother } from "./again.ts";
import { DEFAULT_MAX_HELD, type GuardrailsConfig, guardrailsSchema } from "./config.ts";
import { guardReply } from "./reply.ts";
import { guardRequest } from "./request.ts";
import { Runners } from "./runners.ts";
import { type Holder, holderOf } from "@sluice/kit/internals";
import { recordGuardrail } from "@sluice/runtime";
import {
  GuardrailRunner,
  GuardrailSet,
  type Report,
  SetPolicy,
  Vault,
} from "@sluice/runtime/guard";

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

/** The names of the guardrails that check every exchange of a step. */
interface FixedNames {
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** What the exchanges of one step share. */
interface StepGuards {
  readonly fixed: FixedNames;
  readonly runners: Runners;
  readonly host: Host;
}

const NONE: readonly string[] = Object.freeze([]);

/** Whether a key or a request has guardrails of its own. */
function hasOwnGuardrails({ identity, request }: Exchange): boolean {
  return (identity?.guardrails ?? NONE).length > 0 || (request?.guardrails ?? NONE).length > 0;
}

/** Opens the guardrail sets of one exchange. The exchange's settlement clears the vault. */
class ExchangeGuards {
  readonly vault = new Vault();
  readonly #exchange: Exchange;
  readonly #step: StepGuards;
  readonly #holder: Holder;
  readonly #report: Report;

  constructor(exchange: Exchange, step: StepGuards) {
    this.#exchange = exchange;
    this.#step = step;
    this.#holder = holderOf(exchange.identity);
    this.#report = (outcome) => {
      // The restoring guardrail has no name and nothing to report.
      if (outcome.guardrail === "") return;
      recordGuardrail(exchange, outcome);
      exchange.note("guardrails", outcome.verdict, outcome.guardrail);
    };
    exchange.lifetime.onSettle(() => this.vault.clear());
  }

  /** Names all guardrails in a header of the reply. */
  announce(): void {
    const { input, output } = this.#step.fixed;
    const names = this.#namesWith([...input, ...output]);
    this.#exchange.headers.set("x-sluice-guardrails", [...names].join(","));
  }

  /** The guardrails that check the request. */
  input(): GuardrailSet {
    return this.#open(this.#step.fixed.input, new SetPolicy(this.#report));
  }

  /** The guardrails that check the reply, and the one that restores masked texts. */
  output(mayAskAgain: boolean): GuardrailSet {
    const { fixed, host } = this.#step;
    const policy = new SetPolicy(this.#report, { mayAskAgain });
    if (this.vault.isEmpty) return this.#open(fixed.output, policy);
    const restorer = new GuardrailRunner(this.vault.restorer(), host);
    return this.#open(fixed.output, policy, restorer);
  }

  #open(names: readonly string[], policy: SetPolicy, restorer?: GuardrailRunner): GuardrailSet {
    const { signal } = this.#exchange;
    const sessions = [...this.#namesWith(names)].map((name) =>
      this.#step.runners.of(name).begin(signal, this.#holder),
    );
    if (restorer !== undefined) sessions.push(restorer.begin(signal));
    return new GuardrailSet(sessions, policy);
  }

  #namesWith(names: readonly string[]): ReadonlySet<string> {
    const { identity, request } = this.#exchange;
    return new Set([...names, ...(identity?.guardrails ?? NONE), ...(request?.guardrails ?? NONE)]);
  }
}
