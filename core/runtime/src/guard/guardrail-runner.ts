/** A guardrail runner: one guardrail with a deadline, a breaker and a check of its verdicts. */

import {
  type Clock,
  type GatewayError,
  type GuardrailInstance,
  isGatewayError,
  type GuardrailCaller,
  type Log,
  type RequestFacts,
  type TextContext,
  type Verdict,
} from "@sluice/contract";
import { type Holder, holderOf, MAX_SPANS, TimeLimit, unlessAborted } from "@sluice/kit/internals";
import { stackPlaces } from "../stack-places.ts";
import { GuardBreaker, OPEN_MS } from "./breaker.ts";
import { ALLOW, checked, InvalidVerdictError } from "./checked-verdict.ts";
import { GuardFailure, noPlace } from "./failure.ts";
import { checkInSlices, SLICE, type SliceOptions } from "./document/slices.ts";

/** The dependencies of a runner. */
export interface RunnerParts {
  readonly clock: Clock;
  readonly log: Log;
}

/** One guardrail of a generation, with the breaker that all its users share. */
export class GuardrailRunner {
  readonly instance: GuardrailInstance;
  readonly #parts: RunnerParts;
  readonly #breaker: GuardBreaker;

  constructor(instance: GuardrailInstance, parts: RunnerParts, breaker = new GuardBreaker()) {
    this.instance = instance;
    this.#parts = parts;
    this.#breaker = breaker;
  }

  /** The session for one exchange of a key. The end of the exchange ends every check. */
  begin(signal: AbortSignal, holder: Holder = NO_HOLDER): GuardrailSession {
    return new GuardrailSession(this, signal, holder);
  }

  nowMs(): number {
    return this.#parts.clock.monotonic();
  }

  /** Throws while the breaker is open. */
  admitCall(nowMs: number, holder: Holder): void {
    if (this.#breaker.isOpen(nowMs, holder))
      throw new GuardFailure(this.instance.name, "is suspended after several failures");
  }

  succeed(holder: Holder): void {
    this.#breaker.succeed(holder);
  }

  /** Logs that the guardrail did not check all of a text. */
  missed(maxCharacters: number): void {
    const { name, use } = this.instance;
    this.#parts.log.warn("an observing guardrail did not check all of a reply", {
      guardrail: name,
      use,
      max_held: maxCharacters,
    });
  }

  /**
   * Counts and logs a failure. A guardrail's error may quote the checked text: the log gets its
   * name and the places of its stack, not its message.
   */
  fail(holder: Holder, what: string, error?: unknown): GuardFailure {
    const { name, use } = this.instance;
    const leftAloneBy = this.#breaker.fail(this.nowMs(), holder);
    this.#parts.log.warn("a guardrail failed", {
      guardrail: name,
      use,
      what,
      ...(error instanceof Error ? { error_name: error.name, at: stackPlaces(error) } : {}),
      ...(leftAloneBy === undefined ? {} : { left_alone_ms: OPEN_MS, left_alone_by: leftAloneBy }),
    });
    return new GuardFailure(name, what, "failed", error);
  }
}

/** One guardrail within one exchange. */
export class GuardrailSession {
  readonly instance: GuardrailInstance;
  readonly #runner: GuardrailRunner;
  readonly #outer: AbortSignal;
  readonly #holder: Holder;
  /** For guardrails with places that keys share. */
  readonly #caller: GuardrailCaller | undefined;
  #controller: AbortController | undefined;

  constructor(runner: GuardrailRunner, outer: AbortSignal, holder: Holder) {
    const { name, isRemote, settings } = runner.instance;
    this.instance = runner.instance;
    this.#runner = runner;
    this.#outer = outer;
    this.#holder = holder;
    const hasPlaces = isRemote === true || settings.isolation === "worker";
    this.#caller = hasPlaces
      ? { key: holder.key, team: holder.team, what: `The guardrail ${name}`, waits: 0 }
      : undefined;
  }

  /**
   * The verdict on a text, synchronous where the guardrail is. Throws a GuardFailure, or the reason
   * of the exchange's end.
   */
  check(text: string, context: TextContext): Verdict | Promise<Verdict> {
    const { guardrail, settings, isSliced, name } = this.instance;
    // A long text is not a failure of the guardrail: the breaker does not count it.
    if (settings.maxText !== undefined && text.length > settings.maxText)
      throw tooLong(name, `checks texts of up to ${settings.maxText} characters`);
    if (isSliced !== true || text.length <= SLICE) return this.#check(text, context);
    const check: SliceOptions["check"] = (slice, about) => this.#check(slice, about);
    const [signal, holder] = [this.#outer, this.#holder];
    const options = { context, reach: guardrail.reach, check, signal, holder };
    return checkInSlices(text, options).then((verdict) => {
      if (verdict.kind !== "allow" && (verdict.spans?.length ?? 0) > MAX_SPANS)
        throw tooLong(name, `edits at most ${MAX_SPANS} places of a text`);
      return verdict;
    });
  }

  #check(text: string, context: TextContext): Verdict | Promise<Verdict> {
    const caller = this.#caller;
    const about = caller === undefined ? context : { ...context, caller };
    return this.#call((signal) => this.instance.guardrail.check(text, signal, about), text.length);
  }

  /** Reports that the guardrail did not check all of a text. */
  missed(maxCharacters: number): void {
    this.#runner.missed(maxCharacters);
  }

  /** The verdict on the whole request. */
  admit(request: RequestFacts): Verdict | Promise<Verdict> {
    if (this.instance.guardrail.admit === undefined) return ALLOW;
    const caller = this.#caller;
    const facts = caller === undefined ? request : Object.freeze({ ...request, caller });
    return this.#call((signal) => this.instance.guardrail.admit?.(facts, signal) ?? ALLOW, 0);
  }

  #call(
    ask: (signal: AbortSignal) => Verdict | Promise<Verdict>,
    length: number,
  ): Verdict | Promise<Verdict> {
    const runner = this.#runner;
    const startedMs = runner.nowMs();
    runner.admitCall(startedMs, this.#holder);
    const waits = this.#caller?.waits;
    let answer: Verdict | Promise<Verdict>;
    try {
      answer = ask(this.#signal());
      if (!isPromise(answer)) answer = checked(answer, length);
    } catch (error) {
      throw this.#failure(error);
    }
    if (isPromise(answer)) return this.#wait(answer, length, waits);
    const tookMs = runner.nowMs() - startedMs;
    // It has answered, but it blocked other requests meanwhile. That counts as a failure.
    if (tookMs > this.instance.settings.budgetMs)
      runner.fail(this.#holder, `held the event loop for ${Math.round(tookMs)} ms`);
    else runner.succeed(this.#holder);
    return answer;
  }

  /**
   * Waits for a verdict until the deadline or the end of the exchange. `waits`: the caller's waits
   * before the call.
   */
  async #wait(
    answer: Promise<Verdict>,
    length: number,
    waits: number | undefined,
  ): Promise<Verdict> {
    const { budgetMs } = this.instance.settings;
    const limit = new TimeLimit(this.#outer, budgetMs, () => new LateError());
    try {
      const verdict = checked(await unlessAborted(answer, limit.signal), length);
      this.#runner.succeed(this.#holder);
      return verdict;
    } catch (error) {
      if (this.#outer.aborted) throw this.#outer.reason;
      if (!(error instanceof LateError)) throw this.#failure(error);
      this.#controller?.abort(error);
      this.#controller = undefined;
      if (this.#caller?.waits !== waits) throw this.#busy(noPlace(this.instance.name, budgetMs));
      throw this.#runner.fail(this.#holder, `took longer than its budget of ${budgetMs} ms`);
    } finally {
      limit.end();
    }
  }

  /** Converts an error of the guardrail. A lack of places for the key is not its failure. */
  #failure(error: unknown): GuardFailure {
    if (isGatewayError(error) && error.code === "overloaded") return this.#busy(error);
    return this.#runner.fail(
      this.#holder,
      error instanceof InvalidVerdictError ? "returned an invalid verdict" : "threw",
      error,
    );
  }

  #busy(refusal: GatewayError): GuardFailure {
    return new GuardFailure(this.instance.name, "had no free place for the key", "busy", refusal);
  }

  /** One signal for all checks of the exchange, until one of them is late. */
  #signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.#outer.aborted) controller.abort(this.#outer.reason);
      else
        this.#outer.addEventListener("abort", () => controller.abort(this.#outer.reason), {
          once: true,
        });
    }
    return this.#controller.signal;
  }
}

const NO_HOLDER = holderOf(undefined);

class LateError extends Error {}

function tooLong(name: string, what: string): GuardFailure {
  return new GuardFailure(name, what, "text_too_long");
}

function isPromise(answer: unknown): answer is Promise<Verdict> {
  return (
    typeof answer === "object" &&
    answer !== null &&
    typeof (answer as { then?: unknown }).then === "function"
  );
}
