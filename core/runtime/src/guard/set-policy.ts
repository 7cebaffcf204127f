/** What follows the results of a guardrail set: the reports, and the errors. */

import type { GuardrailOutcome } from "@sluice/contract";
import { GuardFailure } from "./failure.ts";
import type { GuardrailSession } from "./guardrail-runner.ts";
import type { SetBlock } from "./joint-verdict.ts";
import { AskAgain, guardFailed, violation } from "./refusals.ts";

/** Options of a policy. */
export interface SetPolicyOptions {
  /** Its verdicts change nothing. */
  readonly isObserving?: boolean;
  /** A block that says `askAgain` is thrown as `AskAgain`. */
  readonly mayAskAgain?: boolean;
}

/** Receives every result of a guardrail. */
export type Report = (outcome: GuardrailOutcome) => void;

type Direction = GuardrailOutcome["direction"];

/** The policy of the guardrails of one exchange. */
export class SetPolicy {
  readonly #report: Report;
  readonly #isObserving: boolean;
  readonly #mayAskAgain: boolean;

  constructor(report: Report, { isObserving = false, mayAskAgain = false }: SetPolicyOptions = {}) {
    this.#report = report;
    this.#isObserving = isObserving;
    this.#mayAskAgain = mayAskAgain;
  }

  /** The policy under which no verdict changes anything. */
  observing(): SetPolicy {
    return new SetPolicy(this.#report, { isObserving: true });
  }

  /** Whether the verdicts of a guardrail change the text, or refuse it. */
  enforces(session: GuardrailSession): boolean {
    return !this.#isObserving && isEnforced(session);
  }

  /** Reports a result of a guardrail. */
  report(
    guardrail: string,
    direction: Direction,
    verdict: GuardrailOutcome["verdict"],
    isEnforcing = true,
  ): void {
    this.#report({
      guardrail,
      direction,
      verdict,
      mode: this.#isObserving ? "observe" : isEnforcing ? "enforce" : "shadow",
    });
  }

  /**
   * Throws the error of a block, after its report: `guardrail_violation`, or `AskAgain` where that
   * is allowed.
   */
  refuse(
    { guardrail, askAgain }: Pick<SetBlock, "guardrail" | "askAgain">,
    direction: Direction,
  ): never {
    if (askAgain && direction === "output" && this.#mayAskAgain) {
      this.report(guardrail, direction, "ask_again");
      throw new AskAgain(guardrail);
    }
    this.report(guardrail, direction, "block");
    throw violation(guardrail);
  }

  /**
   * Reports a guardrail without a verdict. Throws when it is required, or when the exchange is
   * over.
   */
  fail(session: GuardrailSession, error: unknown, direction: Direction): void {
    const { name, settings } = session.instance;
    // The exchange is over, which is not the guardrail's fault.
    if (!(error instanceof GuardFailure)) throw error;
    this.report(name, direction, "error", isEnforced(session));
    // With `on_error: skip`, a key could fill its own places to avoid the check.
    const isFatal = settings.onError === "fail" || error.kind === "busy";
    if (isFatal && this.enforces(session)) throw guardFailed(name, error);
  }
}

/** Whether a guardrail's own settings let its verdicts change something. */
export function isEnforced({ instance }: GuardrailSession): boolean {
  return instance.settings.mode === "enforce";
}
