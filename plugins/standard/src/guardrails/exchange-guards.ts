/** The guardrails of one exchange: those of the step, of the key and of the request. */

import { type Holder, holderOf } from "@sluice/kit/internals";
import { recordGuardrail } from "@sluice/runtime";
import {
  GuardrailRunner,
  GuardrailSet,
  type Report,
  SetPolicy,
  Vault,
} from "@sluice/runtime/guard";
import type { Exchange, Host } from "@sluice/contract";
import type { Runners } from "./runners.ts";

/** The names of the guardrails that check every exchange of a step. */
export interface FixedNames {
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** What the exchanges of one step share. */
export interface StepGuards {
  readonly fixed: FixedNames;
  readonly runners: Runners;
  readonly host: Host;
}

const NONE: readonly string[] = Object.freeze([]);

/** Whether a key or a request has guardrails of its own. */
export function hasOwnGuardrails({ identity, request }: Exchange): boolean {
  return (identity?.guardrails ?? NONE).length > 0 || (request?.guardrails ?? NONE).length > 0;
}

/** Opens the guardrail sets of one exchange. The exchange's settlement clears the vault. */
export class ExchangeGuards {
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
