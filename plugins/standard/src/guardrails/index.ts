/**
 * The step `guardrails`: checks every text of a request and of its reply before it is passed on.
 */

import { recordGuardrail } from "@sluice/runtime";
import { defineStep } from "@sluice/kit";
import { holderOf } from "@sluice/kit/internals";
import {
  GuardBreaker,
  GuardrailRunner,
  GuardrailSet,
  type Report,
  SetPolicy,
  Vault,
} from "@sluice/runtime/guard";
import {
  type Exchange,
  GatewayError,
  type GuardrailInstance,
  type Host,
  type TextPart,
} from "@sluice/contract";
import { type GuardReply, replyOrAnother } from "./again.ts";
import { DEFAULT_MAX_HELD, type GuardrailsConfig, guardrailsSchema } from "./config.ts";
import { guardReply } from "./reply.ts";
import { guardRequest } from "./request.ts";

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
    const runners = new Map<GuardrailInstance, GuardrailRunner>();
    const runnerOf = (instance: GuardrailInstance): GuardrailRunner => {
      const runner =
        runners.get(instance) ?? new GuardrailRunner(instance, host, breakerOf(instance, host));
      runners.set(instance, runner);
      return runner;
    };
    // Opened here, so that an edit of another setting passes them on to the next generation.
    for (const instance of host.guardrails.list()) breakerOf(instance, host);
    const always = alwaysOn(host);
    const fixed = {
      input: [...new Set([...always, ...(config.input ?? [])])],
      output: [...new Set([...always, ...(config.output ?? [])])],
    };
    const isIdle = fixed.input.length === 0 && fixed.output.length === 0;
    return {
      enter: ({ identity, request }) =>
        !isIdle ||
        (identity?.guardrails ?? NONE).length > 0 ||
        (request?.guardrails ?? NONE).length > 0,
      async run({ exchange }, next) {
        const holder = holderOf(exchange.identity);
        const own = exchange.identity?.guardrails ?? NONE;
        const asked = exchange.request?.guardrails ?? NONE;
        const report: Report = (outcome) => {
          // The restoring guardrail has no name and nothing to report.
          if (outcome.guardrail === "") return;
          recordGuardrail(exchange, outcome);
          exchange.note("guardrails", outcome.verdict, outcome.guardrail);
        };
        const guardrailSetFor = (
          names: readonly string[],
          policy: SetPolicy,
          vault?: Vault,
        ): GuardrailSet => {
          const sessions = [...new Set([...names, ...own, ...asked])].map((name) =>
            runnerOf(inScope(required(name, host), config.scope, scoped)).begin(
              exchange.signal,
              holder,
            ),
          );
          if (vault !== undefined && !vault.isEmpty)
            sessions.push(new GuardrailRunner(vault.restorer(), host).begin(exchange.signal));
          return new GuardrailSet(sessions, policy);
        };
        announceNames(exchange, [...fixed.input, ...fixed.output, ...own, ...asked]);
        const vault = new Vault();
        exchange.lifetime.onSettle(() => vault.clear());
        await guardRequest(exchange, config, {
          set: guardrailSetFor(fixed.input, new SetPolicy(report)),
          vault,
          forwardsNotes: forwardsNotes(exchange, host),
        });
        const guard: GuardReply = (mayAskAgain) =>
          guardReply(
            exchange,
            guardrailSetFor(fixed.output, new SetPolicy(report, { mayAskAgain }), vault),
            {
              ...config,
              max_held: config.max_held ?? DEFAULT_MAX_HELD,
              keepsWhole: mayAskAgain,
            },
          );
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

/** The breaker of a guardrail, shared by all steps and generations with the same guardrail. */
function breakerOf({ identity }: GuardrailInstance, host: Host): GuardBreaker {
  return identity === undefined
    ? new GuardBreaker()
    : host.shared(`guardrail-breaker:${identity}`, () => new GuardBreaker());
}

function asksAgain({ ask_again: isAsking }: GuardrailsConfig): boolean {
  return isAsking === true;
}

const NONE: readonly string[] = Object.freeze([]);

/** A guardrail narrowed to a step's scope, one for each, so that its runner keeps its memory. */
const scoped = new WeakMap<GuardrailInstance, Map<string, GuardrailInstance>>();

function inScope(
  instance: GuardrailInstance,
  scope: readonly TextPart[] | undefined,
  memory: typeof scoped,
): GuardrailInstance {
  if (scope === undefined) return instance;
  const own = memory.get(instance) ?? new Map<string, GuardrailInstance>();
  memory.set(instance, own);
  const key = scope.join(" ");
  const known = own.get(key);
  if (known !== undefined) return known;
  const parts = instance.settings.scope?.filter((part) => scope.includes(part)) ?? scope;
  const narrowed = { ...instance, settings: { ...instance.settings, scope: parts } };
  own.set(key, narrowed);
  return narrowed;
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

/** A required guardrail. A missing one is a fault of the gateway: the request fails. */
function required(name: string, { guardrails: catalog }: Host): GuardrailInstance {
  const instance = catalog.find(name);
  if (instance !== undefined) return instance;
  throw new GatewayError("plugin_failed", `The guardrail ${name} must run and is not configured.`, {
    param: name,
  });
}

function announceNames(exchange: Exchange, names: readonly string[]): void {
  exchange.headers.set("x-sluice-guardrails", [...new Set(names)].join(","));
}
