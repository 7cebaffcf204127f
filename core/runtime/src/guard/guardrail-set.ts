/** A guardrail set: several guardrails that check one text concurrently and return one verdict. */

import {
  type EditSpan,
  GatewayError,
  type GuardrailOutcome,
  isGatewayError,
  type TextContext,
  type TextPart,
  type Verdict,
} from "@sluice/contract";
import { GuardFailure } from "./failure.ts";
import type { GuardrailSession } from "./guardrail-runner.ts";
import { orderSpans } from "@sluice/kit/guard";

/** The joint verdict on one text: the edits, and the block. */
export interface SetVerdict {
  readonly spans: readonly SetSpan[];
  /** The effective block: one without a place, else the first. */
  readonly block: SetBlock | undefined;
}

/** A span, and its guardrail. */
export interface SetSpan extends EditSpan {
  readonly guardrail: string;
}

/** A block, and its guardrail. */
export interface SetBlock {
  readonly guardrail: string;
  readonly reason: string;
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** Another reply may pass. */
  readonly askAgain: boolean;
}

/** A refused reply that may be requested once more. Only the step that allowed it sees this error. */
export class AskAgain extends Error {
  readonly guardrail: string;

  constructor(guardrail: string) {
    super(`The guardrail ${guardrail} asks for the reply once more.`);
    this.name = "AskAgain";
    this.guardrail = guardrail;
  }
}

/** Options of a set. */
export interface GuardrailSetOptions {
  /** Its verdicts change nothing. */
  readonly isObserving?: boolean;
  /** A block that says `askAgain` is thrown as `AskAgain`. */
  readonly mayAskAgain?: boolean;
}

/** Receives every result of a guardrail. */
export type Report = (outcome: GuardrailOutcome) => void;

const NO_OPTIONS: GuardrailSetOptions = Object.freeze({});
const NOTHING: SetVerdict = Object.freeze({ spans: [], block: undefined });

/** Guardrails of one exchange that check together. Observing ones are called and reported, and change nothing. */
export class GuardrailSet {
  readonly #sessions: readonly GuardrailSession[];
  readonly #report: Report;
  readonly #options: GuardrailSetOptions;
  readonly #isObserving: boolean;

  constructor(sessions: readonly GuardrailSession[], report: Report, options: GuardrailSetOptions = NO_OPTIONS) {
    this.#sessions = sessions;
    this.#report = report;
    this.#options = options;
    this.#isObserving = options.isObserving === true;
  }

  get isEmpty(): boolean {
    return this.#sessions.length === 0;
  }

  /** Whether some of them check whole requests. */
  get admits(): boolean {
    return this.#sessions.some(({ instance }) => instance.guardrail.admit !== undefined);
  }

  /** The longest reach of the enforced ones. */
  get reach(): number {
    return Math.max(0, ...this.#sessions.filter(isEnforced).map(({ instance }) => instance.guardrail.reach));
  }

  /** The set without guardrails that do not check such a text. */
  for(part: TextPart): GuardrailSet {
    const sessions = this.#sessions.filter(({ instance }) => instance.settings.scope?.includes(part) ?? true);
    return sessions.length === this.#sessions.length ? this : this.#of(sessions);
  }

  /** The set without guardrails of whole texts and those that call a service. */
  bounded(): GuardrailSet {
    const isBounded = ({ instance }: GuardrailSession): boolean =>
      instance.isRemote !== true && Number.isFinite(instance.guardrail.reach);
    return this.#of(this.#sessions.filter(isBounded));
  }

  /** The enforced guardrails, and the observing ones. */
  split(): { readonly enforced: GuardrailSet; readonly shadow: GuardrailSet } {
    return {
      enforced: this.#of(this.#sessions.filter(isEnforced)),
      shadow: this.#of(this.#sessions.filter((session) => !isEnforced(session))),
    };
  }

  /** The empty set. */
  none(): GuardrailSet {
    return this.#of([]);
  }

  /** The same guardrails, all observing. */
  asObservers(): GuardrailSet {
    const sessions = this.#sessions.filter(({ instance }) => instance.name !== "");
    return new GuardrailSet(sessions, this.#report, { isObserving: true });
  }

  /** Only the guardrail that restores masked texts. */
  restorers(): GuardrailSet {
    return this.#of(this.#sessions.filter(({ instance }) => instance.name === ""));
  }

  /** One set for each guardrail, in order. */
  each(): readonly GuardrailSet[] {
    return this.#sessions.map((session) => this.#of([session]));
  }

  /**
   * Throws the error of a block that was already reported: `guardrail_violation`, or `AskAgain`
   * where that is allowed.
   */
  refuse(block: Pick<SetBlock, "guardrail" | "askAgain">, direction: GuardrailOutcome["direction"]): never {
    const { guardrail, askAgain } = block;
    if (askAgain && direction === "output" && this.#options.mayAskAgain === true) {
      this.report(guardrail, direction, "ask_again");
      throw new AskAgain(guardrail);
    }
    this.report(guardrail, direction, "block");
    throw violation(guardrail);
  }

  /**
   * The joint verdict, synchronous where all guardrails are. Throws `plugin_failed` for a failed
   * guardrail with `on_error: fail`.
   */
  check(text: string, context: TextContext): SetVerdict | Promise<SetVerdict> {
    let gathered: Gathered | undefined;
    let pending: Promise<void>[] | undefined;
    for (const session of this.#sessions) {
      let verdict: Verdict | Promise<Verdict>;
      try {
        verdict = session.check(text, context);
      } catch (error) {
        this.#failed(session, error, context.direction);
        continue;
      }
      if (verdict instanceof Promise || "then" in verdict) {
        pending ??= [];
        const into = (gathered ??= { spans: [], block: undefined });
        pending.push(
          (verdict as Promise<Verdict>).then(
            (settled) => this.#gather(into, session, settled, context.direction),
            (error: unknown) => this.#failed(session, error, context.direction),
          ),
        );
      } else if (verdict.kind !== "allow") {
        this.#gather((gathered ??= { spans: [], block: undefined }), session, verdict, context.direction);
      }
    }
    if (pending === undefined) return gathered === undefined ? NOTHING : finished(gathered, text.length);
    const all = gathered ?? { spans: [], block: undefined };
    return Promise.all(pending).then(() => finished(all, text.length));
  }

  /** Reports that no guardrail of the set checked all of a text. It appears in rows and metrics, as failures do. */
  missed(direction: GuardrailOutcome["direction"], maxCharacters: number): void {
    for (const session of this.#sessions) {
      session.missed(maxCharacters);
      this.report(session.instance.name, direction, "error", isEnforced(session));
    }
  }

  /** Checks the whole request. Throws `guardrail_violation` for a block. */
  async admit(request: Parameters<GuardrailSession["admit"]>[0]): Promise<void> {
    for (const session of this.#sessions) {
      let verdict: Verdict;
      try {
        // oxlint-disable-next-line no-await-in-loop -- the first refusal is the answer.
        verdict = await session.admit(request);
      } catch (error) {
        this.#failed(session, error, "input");
        continue;
      }
      if (verdict.kind === "allow") continue;
      this.report(session.instance.name, "input", "block", isEnforced(session));
      if (isEnforced(session)) throw violation(session.instance.name);
    }
  }

  /** Reports a result of a guardrail. */
  report(
    guardrail: string,
    direction: GuardrailOutcome["direction"],
    verdict: GuardrailOutcome["verdict"],
    isEnforcing = true,
  ): void {
    this.#report({ guardrail, direction, verdict, mode: this.#isObserving ? "observe" : isEnforcing ? "enforce" : "shadow" });
  }

  #of(sessions: readonly GuardrailSession[]): GuardrailSet {
    return new GuardrailSet(sessions, this.#report, this.#options);
  }

  #gather(into: Gathered, session: GuardrailSession, verdict: Verdict, direction: GuardrailOutcome["direction"]): void {
    const { name } = session.instance;
    if (verdict.kind === "allow") return;
    if (this.#isObserving || !isEnforced(session)) {
      this.report(name, direction, verdict.kind, false);
      return;
    }
    for (const span of verdict.spans ?? []) into.spans.push({ ...span, guardrail: name });
    if (verdict.kind === "edit") return;
    const { reason, start, end, askAgain = false } = verdict;
    const block = { guardrail: name, reason, start, end, askAgain };
    if (into.block === undefined || comesFirst(block, into.block)) into.block = block;
  }

  #failed(session: GuardrailSession, error: unknown, direction: GuardrailOutcome["direction"]): void {
    const { name, settings } = session.instance;
    // The exchange is over, which is not the guardrail's fault.
    if (!(error instanceof GuardFailure)) throw error;
    this.report(name, direction, "error", isEnforced(session));
    // With `on_error: skip`, a key could fill its own places to avoid the check.
    const isFatal = settings.onError === "fail" || error.kind === "busy";
    if (!this.#isObserving && isEnforced(session) && isFatal) throw guardFailed(name, error);
  }
}

interface Gathered {
  spans: SetSpan[];
  block: SetBlock | undefined;
}

/**
 * Of two blocks, the one that another reply cannot cure comes first; then the one without a place,
 * then the earlier one.
 */
function comesFirst(block: SetBlock, other: SetBlock): boolean {
  if (block.askAgain !== other.askAgain) return !block.askAgain;
  return (block.start ?? -1) < (other.start ?? -1);
}

function finished({ spans, block }: Gathered, length: number): SetVerdict {
  return { spans: orderSpans(spans, length, Infinity), block };
}

function isEnforced({ instance }: GuardrailSession): boolean {
  return instance.settings.mode === "enforce";
}

/** The error of a block. It names the guardrail and no part of the text. */
export function violation(guardrail: string): GatewayError {
  return new GatewayError("guardrail_violation", `The guardrail ${guardrail} blocked this request.`, { param: guardrail });
}

/**
 * The error of a request whose required guardrail returned no verdict. A long text and a lack of
 * places are not failures of the guardrail.
 */
export function guardFailed(guardrail: string, cause: unknown): GatewayError {
  if (cause instanceof GuardFailure && cause.kind === "text_too_long")
    return new GatewayError("guardrail_violation", cause.message, { param: guardrail });
  if (cause instanceof GuardFailure && cause.kind === "busy" && isGatewayError(cause.thrown)) return cause.thrown;
  return new GatewayError(
    "plugin_failed",
    `The guardrail ${guardrail} failed, and its policy refuses requests without a verdict.`,
    {
      param: guardrail,
      cause,
    },
  );
}
