/** The guardrails of one use of the step, by their names. */

import { GuardBreaker, GuardrailRunner } from "@sluice/runtime/guard";
import { GatewayError, type GuardrailInstance, type Host, type TextPart } from "@sluice/contract";

/** A guardrail narrowed to a step's scope, one for each, so that its runner keeps its memory. */
const scoped = new WeakMap<GuardrailInstance, Map<string, GuardrailInstance>>();

/** Makes the runner of a guardrail once. */
export class Runners {
  readonly #host: Host;
  readonly #scope: readonly TextPart[] | undefined;
  readonly #made = new Map<GuardrailInstance, GuardrailRunner>();

  constructor(host: Host, scope: readonly TextPart[] | undefined) {
    this.#host = host;
    this.#scope = scope;
    // Opened here, so that an edit of another setting passes them on to the next generation.
    for (const instance of host.guardrails.list()) breakerOf(instance, host);
  }

  /** The runner of a required guardrail. Throws `plugin_failed` for one that is not configured. */
  of(name: string): GuardrailRunner {
    const instance = inScope(required(name, this.#host), this.#scope);
    const known = this.#made.get(instance);
    if (known !== undefined) return known;
    const runner = new GuardrailRunner(instance, this.#host, breakerOf(instance, this.#host));
    this.#made.set(instance, runner);
    return runner;
  }
}

/** The breaker of a guardrail, shared by all steps and generations with the same guardrail. */
function breakerOf({ identity }: GuardrailInstance, host: Host): GuardBreaker {
  return identity === undefined
    ? new GuardBreaker()
    : host.shared(`guardrail-breaker:${identity}`, () => new GuardBreaker());
}

function inScope(
  instance: GuardrailInstance,
  scope: readonly TextPart[] | undefined,
): GuardrailInstance {
  if (scope === undefined) return instance;
  const own = scoped.get(instance) ?? new Map<string, GuardrailInstance>();
  scoped.set(instance, own);
  const key = scope.join(" ");
  const known = own.get(key);
  if (known !== undefined) return known;
  const parts = instance.settings.scope?.filter((part) => scope.includes(part)) ?? scope;
  const narrowed = { ...instance, settings: { ...instance.settings, scope: parts } };
  own.set(key, narrowed);
  return narrowed;
}

/** A missing guardrail is a fault of the gateway: the request fails. */
function required(name: string, { guardrails: catalog }: Host): GuardrailInstance {
  const instance = catalog.find(name);
  if (instance !== undefined) return instance;
  throw new GatewayError("plugin_failed", `The guardrail ${name} must run and is not configured.`, {
    param: name,
  });
}
