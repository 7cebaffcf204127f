/** The step `guardrails`: every text of a request and of its reply is judged before it goes on. */

import { defineStep } from "@sluice/kit";
import { GuardBreaker, Judge, Panel, type PanelOptions, type Report, Vault } from "@sluice/kit/guard";
import { type Exchange, GatewayError, type GuardrailInstance, type Host, type TextPart } from "@sluice/spec";
import { type JudgeReply, replyOrAnother } from "./guardrails-again.ts";
import { DEFAULT_MAX_HELD, type GuardrailsConfig, guardrailsSchema } from "./guardrails-config.ts";
import { guardReply } from "./guardrails-reply.ts";
import { guardRequest } from "./guardrails-request.ts";

export const guardrails = defineStep<GuardrailsConfig>({
  name: "guardrails",
  stability: "beta",
  summary: "Judges every text of a request and of its reply, streams too: allows, edits or blocks.",
  config: guardrailsSchema,
  operations: ["chat", "embeddings", "images", "passthrough"],
  provides: ["guardrails"],
  requires: [{ capability: "identity", reason: "keys and teams have guardrails of their own" }],
  before: [{ capability: "cached_reply", reason: "a reply from the cache would pass it by" }],
  reentrant: asksAgain,
  guardrails: (config) => {
    const { input = [], output = [], stream = "window" } = config;
    return { input, output, stream, asksAgain: asksAgain(config) };
  },
  check: (config) =>
    asksAgain(config) && config.stream !== "hold"
      ? [
          {
            path: ["ask_again"],
            message: "`ask_again` needs `stream: hold`: what a client has read of a stream cannot be taken back",
            fix: "write `stream: hold`, or remove `ask_again`",
          },
        ]
      : [],
  create(config, host) {
    const judges = new Map<GuardrailInstance, Judge>();
    const judgeOf = (instance: GuardrailInstance): Judge => {
      const judge = judges.get(instance) ?? new Judge(instance, host, breakerOf(instance, host));
      judges.set(instance, judge);
      return judge;
    };
    // Held from here on, so that an edit of something else hands them over from one generation to the next.
    for (const instance of host.guardrails.list()) breakerOf(instance, host);
    const always = alwaysOn(host);
    const fixed = {
      input: [...new Set([...always, ...(config.input ?? [])])],
      output: [...new Set([...always, ...(config.output ?? [])])],
    };
    const isIdle = fixed.input.length === 0 && fixed.output.length === 0;
    return {
      enter: ({ identity, request }) =>
        !isIdle || (identity?.guardrails ?? NONE).length > 0 || (request?.guardrails ?? NONE).length > 0,
      async run({ exchange }, next) {
        const own = exchange.identity?.guardrails ?? NONE;
        const asked = exchange.request?.guardrails ?? NONE;
        const panelFor = (names: readonly string[], vault?: Vault, options?: PanelOptions): Panel => {
          const judgings = [...new Set([...names, ...own, ...asked])].map((name) =>
            judgeOf(inScope(required(name, host), config.scope, scoped)).begin(exchange.signal),
          );
          if (vault !== undefined && !vault.isEmpty) judgings.push(new Judge(vault.restorer(), host).begin(exchange.signal));
          const report: Report = (outcome) => {
            // The one who puts masked texts back has no name, and nothing to report.
            if (outcome.guardrail === "") return;
            exchange.guardrails.push(outcome);
            exchange.note("guardrails", outcome.verdict, outcome.guardrail);
          };
          return new Panel(judgings, report, options);
        };
        tellNames(exchange, [...fixed.input, ...fixed.output, ...own, ...asked]);
        const vault = new Vault();
        exchange.onSettle(() => vault.clear());
        await guardRequest(exchange, config, {
          panel: panelFor(fixed.input),
          vault,
          forwardsNotes: forwardsNotes(exchange, host),
        });
        const judge: JudgeReply = (mayAskAgain) =>
          guardReply(exchange, panelFor(fixed.output, vault, { mayAskAgain }), {
            ...config,
            max_held: config.max_held ?? DEFAULT_MAX_HELD,
            keepsWhole: mayAskAgain,
          });
        if (asksAgain(config)) {
          exchange.reply = await replyOrAnother(exchange, next, judge);
          return;
        }
        await next();
        exchange.reply = await judge(false);
      },
    };
  },
});

/** The breaker of a guardrail: one for all steps and generations that have it as it is. */
function breakerOf({ identity }: GuardrailInstance, host: Host): GuardBreaker {
  return identity === undefined ? new GuardBreaker() : host.shared(`guardrail-breaker:${identity}`, () => new GuardBreaker());
}

function asksAgain({ ask_again: isAsking }: GuardrailsConfig): boolean {
  return isAsking === true;
}

const NONE: readonly string[] = Object.freeze([]);

/** A guardrail narrowed to a step's scope, one for each, so that its judge keeps its memory. */
const scoped = new WeakMap<GuardrailInstance, Map<string, GuardrailInstance>>();

function inScope(instance: GuardrailInstance, scope: readonly TextPart[] | undefined, memory: typeof scoped): GuardrailInstance {
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
  return models.list().some(({ targets }) => targets.some(({ forwardMetadata }) => forwardMetadata === true));
}

/** A guardrail that must run. One that is gone is a fault of the gateway's: nothing passes without it. */
function required(name: string, { guardrails: catalog }: Host): GuardrailInstance {
  const instance = catalog.find(name);
  if (instance !== undefined) return instance;
  throw new GatewayError("plugin_failed", `The guardrail ${name} must run and is not configured.`, { param: name });
}

function tellNames(exchange: Exchange, names: readonly string[]): void {
  exchange.headers.set("x-sluice-guardrails", [...new Set(names)].join(","));
}
