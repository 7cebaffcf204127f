/** A panel: several guardrails that judge one text at the same time, as if they were one. */

import { type EditSpan, GatewayError, type GuardrailOutcome, type TextContext, type TextPart, type Verdict } from "@sluice/spec";
import { GuardFailure, type Judging } from "./judge.ts";
import { orderSpans } from "./spans.ts";

/** What several guardrails say of one text: what must go, where the first offence stands. */
export interface PanelVerdict {
  readonly spans: readonly PanelSpan[];
  /** The offence that counts: one without a place, else the first. */
  readonly block: PanelBlock | undefined;
}

/** A span and who wants it. */
export interface PanelSpan extends EditSpan {
  readonly guardrail: string;
}

/** An offence and who found it. */
export interface PanelBlock {
  readonly guardrail: string;
  readonly reason: string;
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** Another reply may be better. */
  readonly askAgain: boolean;
}

/** A reply that a guardrail refuses and that may be asked for once more. It goes to whoever allowed that, and to no client. */
export class AskAgain extends Error {
  readonly guardrail: string;

  constructor(guardrail: string) {
    super(`The guardrail ${guardrail} asks for the reply once more.`);
    this.name = "AskAgain";
    this.guardrail = guardrail;
  }
}

/** What a panel is besides its guardrails. */
export interface PanelOptions {
  /** None of their words count. */
  readonly isObserving?: boolean;
  /** A block that says `askAgain` is thrown as `AskAgain`. */
  readonly mayAskAgain?: boolean;
}

/** Told of everything a guardrail did. */
export type Report = (outcome: GuardrailOutcome) => void;

const NO_OPTIONS: PanelOptions = Object.freeze({});
const NOTHING: PanelVerdict = Object.freeze({ spans: [], block: undefined });

/** Guardrails of one exchange that judge together. Those that only observe are asked and reported, and change nothing. */
export class Panel {
  readonly #judges: readonly Judging[];
  readonly #report: Report;
  readonly #options: PanelOptions;
  readonly #isObserving: boolean;

  constructor(judges: readonly Judging[], report: Report, options: PanelOptions = NO_OPTIONS) {
    this.#judges = judges;
    this.#report = report;
    this.#options = options;
    this.#isObserving = options.isObserving === true;
  }

  get isEmpty(): boolean {
    return this.#judges.length === 0;
  }

  /** Whether some of them judge requests as a whole. */
  get admits(): boolean {
    return this.#judges.some(({ instance }) => instance.guardrail.admit !== undefined);
  }

  /** The longest reach of those that may change something. */
  get reach(): number {
    return Math.max(0, ...this.#judges.filter(isEnforced).map(({ instance }) => instance.guardrail.reach));
  }

  /** The panel without those that have no say about such a text. */
  for(part: TextPart): Panel {
    const judges = this.#judges.filter(({ instance }) => instance.settings.scope?.includes(part) ?? true);
    return judges.length === this.#judges.length ? this : this.#of(judges);
  }

  /** The panel without those that judge whole texts, or ask a service. */
  bounded(): Panel {
    const isBounded = ({ instance }: Judging): boolean => instance.isRemote !== true && Number.isFinite(instance.guardrail.reach);
    return this.#of(this.#judges.filter(isBounded));
  }

  /** Those whose word counts, and those that only look on. */
  split(): { readonly enforced: Panel; readonly shadow: Panel } {
    return {
      enforced: this.#of(this.#judges.filter(isEnforced)),
      shadow: this.#of(this.#judges.filter((judging) => !isEnforced(judging))),
    };
  }

  /** Nobody. */
  none(): Panel {
    return this.#of([]);
  }

  /** The same guardrails, none of whose words count. */
  asObservers(): Panel {
    const judges = this.#judges.filter(({ instance }) => instance.name !== "");
    return new Panel(judges, this.#report, { isObserving: true });
  }

  /** Those alone who put masked texts back. */
  restorers(): Panel {
    return this.#of(this.#judges.filter(({ instance }) => instance.name === ""));
  }

  /** One panel for each guardrail, in order. */
  each(): readonly Panel[] {
    return this.#judges.map((judging) => this.#of([judging]));
  }

  /** Throws what a block means, after it has been reported: `guardrail_violation`, or `AskAgain` where that is allowed. */
  refuse(block: Pick<PanelBlock, "guardrail" | "askAgain">, direction: GuardrailOutcome["direction"]): never {
    const { guardrail, askAgain } = block;
    if (askAgain && direction === "output" && this.#options.mayAskAgain === true) {
      this.report(guardrail, direction, "ask_again");
      throw new AskAgain(guardrail);
    }
    this.report(guardrail, direction, "block");
    throw violation(guardrail);
  }

  /**
   * What they say together. At once, where all of them answer at once. Throws `plugin_failed` for a guardrail that failed and must
   * not.
   */
  check(text: string, context: TextContext): PanelVerdict | Promise<PanelVerdict> {
    let gathered: Gathered | undefined;
    let pending: Promise<void>[] | undefined;
    for (const judging of this.#judges) {
      let verdict: Verdict | Promise<Verdict>;
      try {
        verdict = judging.check(text, context);
      } catch (error) {
        this.#failed(judging, error, context.direction);
        continue;
      }
      if (verdict instanceof Promise || "then" in verdict) {
        pending ??= [];
        const into = (gathered ??= { spans: [], block: undefined });
        pending.push(
          (verdict as Promise<Verdict>).then(
            (settled) => this.#gather(into, judging, settled, context.direction),
            (error: unknown) => this.#failed(judging, error, context.direction),
          ),
        );
      } else if (verdict.kind !== "allow") {
        this.#gather((gathered ??= { spans: [], block: undefined }), judging, verdict, context.direction);
      }
    }
    if (pending === undefined) return gathered === undefined ? NOTHING : finished(gathered, text.length);
    const all = gathered ?? { spans: [], block: undefined };
    return Promise.all(pending).then(() => finished(all, text.length));
  }

  /** Says of all of them that they did not see all of a text: as of failures, in the rows and the metrics. */
  missed(direction: GuardrailOutcome["direction"], maxCharacters: number): void {
    for (const judging of this.#judges) {
      judging.missed(maxCharacters);
      this.report(judging.instance.name, direction, "error", isEnforced(judging));
    }
  }

  /** Whether the request as a whole may pass. Throws `guardrail_violation` where it may not. */
  async admit(request: Parameters<Judging["admit"]>[0]): Promise<void> {
    for (const judging of this.#judges) {
      let verdict: Verdict;
      try {
        // oxlint-disable-next-line no-await-in-loop -- the first refusal is the answer.
        verdict = await judging.admit(request);
      } catch (error) {
        this.#failed(judging, error, "input");
        continue;
      }
      if (verdict.kind === "allow") continue;
      this.report(judging.instance.name, "input", "block", isEnforced(judging));
      if (isEnforced(judging)) throw violation(judging.instance.name);
    }
  }

  /** Says that a guardrail did something. */
  report(
    guardrail: string,
    direction: GuardrailOutcome["direction"],
    verdict: GuardrailOutcome["verdict"],
    isEnforcing = true,
  ): void {
    this.#report({ guardrail, direction, verdict, mode: this.#isObserving ? "observe" : isEnforcing ? "enforce" : "shadow" });
  }

  #of(judges: readonly Judging[]): Panel {
    return new Panel(judges, this.#report, this.#options);
  }

  #gather(into: Gathered, judging: Judging, verdict: Verdict, direction: GuardrailOutcome["direction"]): void {
    const { name } = judging.instance;
    if (verdict.kind === "allow") return;
    if (this.#isObserving || !isEnforced(judging)) {
      this.report(name, direction, verdict.kind, false);
      return;
    }
    for (const span of verdict.spans ?? []) into.spans.push({ ...span, guardrail: name });
    if (verdict.kind === "edit") return;
    const { reason, start, end, askAgain = false } = verdict;
    const block = { guardrail: name, reason, start, end, askAgain };
    if (into.block === undefined || comesFirst(block, into.block)) into.block = block;
  }

  #failed(judging: Judging, error: unknown, direction: GuardrailOutcome["direction"]): void {
    const { name, settings } = judging.instance;
    // The exchange is over: that is not the guardrail's doing.
    if (!(error instanceof GuardFailure)) throw error;
    this.report(name, direction, "error", isEnforced(judging));
    if (!this.#isObserving && isEnforced(judging) && settings.onError === "fail") throw guardFailed(name, error);
  }
}

interface Gathered {
  spans: PanelSpan[];
  block: PanelBlock | undefined;
}

/** Of two offences the one counts that no other reply would mend; else the one without a place, or the earlier one. */
function comesFirst(block: PanelBlock, other: PanelBlock): boolean {
  if (block.askAgain !== other.askAgain) return !block.askAgain;
  return (block.start ?? -1) < (other.start ?? -1);
}

function finished({ spans, block }: Gathered, length: number): PanelVerdict {
  return { spans: orderSpans(spans, length, Infinity), block };
}

function isEnforced({ instance }: Judging): boolean {
  return instance.settings.mode === "enforce";
}

/** The refusal of what a guardrail blocked. It names the guardrail and nothing of the text. */
export function violation(guardrail: string): GatewayError {
  return new GatewayError("guardrail_violation", `The guardrail ${guardrail} blocked this request.`, { param: guardrail });
}

/** The failure of a request that a guardrail had to judge and could not. A text that was too long is not the guardrail's failure. */
export function guardFailed(guardrail: string, cause: unknown): GatewayError {
  if (cause instanceof GuardFailure && cause.kind === "text_too_long")
    return new GatewayError("guardrail_violation", cause.message, { param: guardrail });
  return new GatewayError("plugin_failed", `The guardrail ${guardrail} failed, and nothing passes without it.`, {
    param: guardrail,
    cause,
  });
}
