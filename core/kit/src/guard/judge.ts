/** A judge: one guardrail as the gateway calls it, with a budget, a circuit breaker and a check of what it answers. */

import type { Clock, EditSpan, GuardrailInstance, Log, RequestFacts, TextContext, Verdict } from "@sluice/spec";
import { stackPlaces } from "../stack-places.ts";
import { GuardBreaker, OPEN_MS } from "./breaker.ts";
import { TimeLimit, unlessAborted } from "../waiting.ts";
import { judgeInSlices, SLICE, type SliceOptions } from "./slices.ts";
import { MAX_SPANS, orderSpans } from "./spans.ts";

/** What an identifier looks like; a reason that looks otherwise might quote the text and is not passed on. */
const REASON = /^[\w.:/-]{1,64}$/;
/** The reason of a block that gives none. */
export const UNNAMED = "unnamed";
const ALLOW: Verdict = Object.freeze({ kind: "allow" });
const ASK_AGAIN = Object.freeze({ askAgain: true });

/** What judging needs beside the guardrail. */
export interface JudgeParts {
  readonly clock: Clock;
  readonly log: Log;
}

/** A guardrail that could not judge. Its message names the guardrail and the kind of failure, never the text. */
export class GuardFailure extends Error {
  readonly guardrail: string;
  /** What the guardrail threw. It may quote the text: it is for the guardrail's own sample, never for a log. */
  readonly thrown: unknown;
  /** What it did, after its name: "threw". */
  readonly what: string;
  /** `text_too_long`: it was not asked. */
  readonly kind: "failed" | "text_too_long";

  constructor(guardrail: string, what: string, kind: GuardFailure["kind"] = "failed", thrown?: unknown) {
    super(`The guardrail ${guardrail} ${what}.`);
    this.name = "GuardFailure";
    this.what = what;
    this.kind = kind;
    this.guardrail = guardrail;
    this.thrown = thrown;
  }
}

/** One guardrail of a generation, with the breaker that it shares with whoever else asks it. */
export class Judge {
  readonly instance: GuardrailInstance;
  readonly #parts: JudgeParts;
  readonly #breaker: GuardBreaker;

  constructor(instance: GuardrailInstance, parts: JudgeParts, breaker = new GuardBreaker()) {
    this.instance = instance;
    this.#parts = parts;
    this.#breaker = breaker;
  }

  /** The judge for one exchange, whose end ends every judgement. */
  begin(signal: AbortSignal): Judging {
    return new Judging(this, signal);
  }

  nowMs(): number {
    return this.#parts.clock.monotonic();
  }

  /** Throws while the guardrail is left alone. */
  admitCall(nowMs: number): void {
    if (this.#breaker.isOpen(nowMs)) throw new GuardFailure(this.instance.name, "is left alone after failing several times");
  }

  succeed(): void {
    this.#breaker.succeed();
  }

  /** Says in the log that the guardrail did not see all of a text that it was to look at. */
  missed(maxCharacters: number): void {
    const { name, use } = this.instance;
    this.#parts.log.warn("a guardrail that observes did not see all of a reply", {
      guardrail: name,
      use,
      max_held: maxCharacters,
    });
  }

  /**
   * Counts a failure and says it in the log. What a guardrail threw may quote the text it judged: its name and the places of its stack
   * are logged, not its message.
   */
  fail(what: string, error?: unknown): GuardFailure {
    const { name, use } = this.instance;
    const isOpening = this.#breaker.fail(this.nowMs());
    this.#parts.log.warn("a guardrail failed", {
      guardrail: name,
      use,
      what,
      ...(error instanceof Error ? { error_name: error.name, at: stackPlaces(error) } : {}),
      ...(isOpening ? { left_alone_ms: OPEN_MS } : {}),
    });
    return new GuardFailure(name, what, "failed", error);
  }
}

/** One guardrail within one exchange. */
export class Judging {
  readonly instance: GuardrailInstance;
  readonly #judge: Judge;
  readonly #outer: AbortSignal;
  #controller: AbortController | undefined;

  constructor(judge: Judge, outer: AbortSignal) {
    this.instance = judge.instance;
    this.#judge = judge;
    this.#outer = outer;
  }

  /** The verdict about a text. Throws a GuardFailure, or the reason of the exchange's end. At once, where the guardrail answers at once. */
  check(text: string, context: TextContext): Verdict | Promise<Verdict> {
    const { guardrail, settings, isSliced, name } = this.instance;
    // That a text is long is nothing the guardrail did: it is not left alone for it.
    if (settings.maxText !== undefined && text.length > settings.maxText)
      throw new GuardFailure(name, `judges texts of up to ${settings.maxText} characters`, "text_too_long");
    if (isSliced !== true || text.length <= SLICE) return this.#check(text, context);
    const judge: SliceOptions["judge"] = (slice, about) => this.#check(slice, about);
    return judgeInSlices(text, { context, reach: guardrail.reach, judge, signal: this.#outer }).then((verdict) => {
      if (verdict.kind !== "allow" && (verdict.spans?.length ?? 0) > MAX_SPANS)
        throw new GuardFailure(name, `edits at most ${MAX_SPANS} places of a text`, "text_too_long");
      return verdict;
    });
  }

  #check(text: string, context: TextContext): Verdict | Promise<Verdict> {
    return this.#call((signal) => this.instance.guardrail.check(text, signal, context), text.length);
  }

  /** Says that the guardrail did not see all of a text. */
  missed(maxCharacters: number): void {
    this.#judge.missed(maxCharacters);
  }

  /** The verdict about the request as a whole. */
  admit(request: RequestFacts): Verdict | Promise<Verdict> {
    if (this.instance.guardrail.admit === undefined) return ALLOW;
    return this.#call((signal) => this.instance.guardrail.admit?.(request, signal) ?? ALLOW, 0);
  }

  #call(ask: (signal: AbortSignal) => Verdict | Promise<Verdict>, length: number): Verdict | Promise<Verdict> {
    const judge = this.#judge;
    const startedMs = judge.nowMs();
    judge.admitCall(startedMs);
    let answer: Verdict | Promise<Verdict>;
    try {
      answer = ask(this.#signal());
      if (!isPromise(answer)) answer = checked(answer, length);
    } catch (error) {
      throw judge.fail(error instanceof RubbishError ? "answered with no verdict" : "threw", error);
    }
    if (isPromise(answer)) return this.#wait(answer, length);
    const tookMs = judge.nowMs() - startedMs;
    // It has answered; but nobody else was served meanwhile, and that counts against it.
    if (tookMs > this.instance.settings.budgetMs) judge.fail(`held the event loop for ${Math.round(tookMs)} ms`);
    else judge.succeed();
    return answer;
  }

  /** Waits for a verdict, no longer than the budget and the exchange allow. */
  async #wait(answer: Promise<Verdict>, length: number): Promise<Verdict> {
    const { budgetMs } = this.instance.settings;
    const limit = new TimeLimit(this.#outer, budgetMs, () => new LateError());
    try {
      const verdict = checked(await unlessAborted(answer, limit.signal), length);
      this.#judge.succeed();
      return verdict;
    } catch (error) {
      if (this.#outer.aborted) throw this.#outer.reason;
      if (error instanceof LateError) {
        this.#controller?.abort(error);
        this.#controller = undefined;
        throw this.#judge.fail(`took longer than its budget of ${budgetMs} ms`);
      }
      throw this.#judge.fail(error instanceof RubbishError ? "answered with no verdict" : "threw", error);
    } finally {
      limit.end();
    }
  }

  /** One signal for all judgements of the exchange, until one of them is late. */
  #signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.#outer.aborted) controller.abort(this.#outer.reason);
      else this.#outer.addEventListener("abort", () => controller.abort(this.#outer.reason), { once: true });
    }
    return this.#controller.signal;
  }
}

class LateError extends Error {}
class RubbishError extends Error {}

function isPromise(answer: unknown): answer is Promise<Verdict> {
  return typeof answer === "object" && answer !== null && typeof (answer as { then?: unknown }).then === "function";
}

/** The verdict in a form the rest can rely on. Throws on what is none. */
function checked(verdict: Verdict, length: number): Verdict {
  switch (verdict?.kind) {
    case "allow":
      return ALLOW;
    case "block": {
      const { start, end } = verdict;
      const reason = typeof verdict.reason === "string" && REASON.test(verdict.reason) ? verdict.reason : UNNAMED;
      const again = verdict.askAgain === true ? ASK_AGAIN : undefined;
      const isPlaced = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start! >= 0 && end! > start! && end! <= length;
      if (!isPlaced) return { kind: "block", reason, ...again };
      return { kind: "block", reason, ...again, start: start!, end: end!, spans: orderedSpans(verdict.spans ?? [], length) };
    }
    case "edit": {
      const spans = orderedSpans(verdict.spans, length);
      return spans.length === 0 ? ALLOW : { kind: "edit", spans };
    }
    default:
      throw new RubbishError();
  }
}

function orderedSpans(spans: readonly EditSpan[], length: number): readonly EditSpan[] {
  try {
    return orderSpans(spans, length);
  } catch {
    throw new RubbishError();
  }
}
