/**
 * The record of an attempt: a state machine with one writer. The members are its state.
 *
 *            sent()         respond()          firstContent()
 *   opened ─────────► sent ───────────► answered ─────────────► content
 *     │  ▲ unbilled()  │                   │                      │
 *     │  └─────────────┘                   │                      │
 *     └──────────┬─────┴───────────────────┴──────────────────────┘
 *                │
 *                ├─ succeed() ──► success ──┐
 *                │                  │       │
 *                │                  ▼ withhold()
 *                ├─ cut() ──────► partial ──┼──► charge() ──► charged
 *                └─ fail() ─────► failure ──┘
 *
 * `interrupt()` notes the reason before the end: `succeed()` then leads to partial. `close()` is
 * `cut()` after content, else `fail()`. A local call is not sent, and a native one may end without
 * content. Usage is reported, counted and doubted in every state until the charge.
 *
 * Invariants, explored by `attempt.test.ts`:
 *
 * 1. An attempt has one outcome. Only a success changes, once, to partial: its reply was withheld.
 * 2. The outcome and the time of the end are set together.
 * 3. A failure and a partial reply have an error. The first reason of an interruption stands in a
 *    partial reply.
 * 4. The first content is recorded at most once, and not after the end.
 * 5. What says whether the call was billed (`isUnanswered`) does not change after the end.
 * 6. A cost is charged at most once, and only after the end.
 * 7. Nothing that the price depends on changes after the charge: outcome, error, usage, content.
 * 8. A usage has a source.
 */

import type {
  Admission,
  Attempt,
  AttemptOutcome,
  AttemptWriter,
  Cost,
  GatewayError,
  JsonDocument,
  Model,
  ReplyText,
  Target,
  Usage,
  UsageSource,
} from "@sluice/contract";

/**
 * The known facts at the start of an attempt. `number`: 0 for an attempt outside the exchange's
 * list.
 */
export interface AttemptStart {
  readonly number: number;
  readonly target: Target;
  readonly model?: Model | undefined;
  /** The name under which the target's models are priced. */
  readonly provider: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** The body that is sent, where that is a part of the request. */
  readonly document?: JsonDocument | undefined;
  /** The admission of the call. Absent: the exchange has no gates. */
  readonly admission?: Admission | undefined;
}

/** A running attempt. */
export function openAttempt(start: AttemptStart): AttemptWriter {
  return new AttemptState(start);
}

/**
 * A running attempt outside any list, with the facts of another attempt's call: its reply is served
 * once more.
 */
export function copyAttempt(attempt: Attempt, startedAtMs: number): AttemptWriter {
  const {
    target,
    model,
    provider,
    document,
    upstreamMs,
    upstreamStatus,
    upstreamRequestId,
    completionId,
  } = attempt;
  const { droppedEvents, suspectUsage } = attempt;
  const copy = new AttemptState({ number: 0, target, model, provider, startedAtMs, document });
  return Object.assign(copy, {
    upstreamMs,
    upstreamStatus,
    upstreamRequestId,
    completionId,
    droppedEvents,
    suspectUsage,
  });
}

/** The writer of an attempt. Throws `TypeError` for an object that `openAttempt` did not make. */
export function writerOf(attempt: Attempt): AttemptWriter {
  if (attempt instanceof AttemptState) return attempt;
  throw new TypeError("The attempt was not opened by the runtime: it cannot be written.");
}

/** Every member is set in the constructor, so that V8 gives all attempts one hidden class. */
class AttemptState implements AttemptWriter {
  readonly number: number;
  readonly target: Target;
  readonly model: Model | undefined;
  readonly provider: string;
  readonly startedAtMs: number;
  readonly document: JsonDocument | undefined;
  readonly admission: Admission | undefined;
  firstContentAtMs: number | undefined = undefined;
  endedAtMs: number | undefined = undefined;
  upstreamMs: number | undefined = undefined;
  outcome: AttemptOutcome | undefined = undefined;
  error: GatewayError | undefined = undefined;
  usage: Usage | undefined = undefined;
  usageSource: UsageSource | undefined = undefined;
  replyText: ReplyText | undefined = undefined;
  suspectUsage: Usage | undefined = undefined;
  isUnanswered: boolean | undefined = undefined;
  upstreamStatus: number | undefined = undefined;
  upstreamRequestId: string | undefined = undefined;
  completionId: string | undefined = undefined;
  droppedEvents: number | undefined = undefined;
  leastUsage: Usage | undefined = undefined;
  reserved: Usage | undefined = undefined;
  cost: Cost | undefined = undefined;
  noted: Promise<void> | undefined = undefined;

  constructor({ number, target, model, provider, startedAtMs, document, admission }: AttemptStart) {
    this.number = number;
    this.target = target;
    this.model = model;
    this.provider = provider;
    this.startedAtMs = startedAtMs;
    this.document = document;
    this.admission = admission;
  }

  note(written: Promise<void> | undefined): void {
    this.noted = written;
  }

  reserve(usage: Usage | undefined): void {
    this.reserved = usage;
  }

  sent(): void {
    if (this.outcome === undefined) this.isUnanswered = true;
  }

  unbilled(): void {
    if (this.outcome === undefined) this.isUnanswered = false;
  }

  respond(status: number | undefined, requestId: string | undefined): void {
    if (this.outcome !== undefined) return;
    this.upstreamStatus = status;
    this.upstreamRequestId = requestId;
  }

  waited(ms: number): void {
    this.upstreamMs ??= ms;
  }

  firstContent(atMs: number): void {
    if (this.outcome === undefined) this.firstContentAtMs ??= atMs;
  }

  identify(completionId: string | undefined): void {
    this.completionId = completionId;
  }

  drop(): void {
    this.droppedEvents = (this.droppedEvents ?? 0) + 1;
  }

  observe(text: ReplyText | undefined): void {
    this.replyText = text;
  }

  report(usage: Usage, source: UsageSource = "provider"): void {
    if (this.cost !== undefined) return;
    this.usage = usage;
    this.usageSource = source;
  }

  reportLeast(usage: Usage | undefined): void {
    this.leastUsage = usage;
  }

  interrupt(reason: GatewayError): void {
    if (this.cost === undefined) this.error ??= reason;
  }

  succeed(atMs: number): void {
    end(this, this.error === undefined ? "success" : "partial", this.error, atMs);
  }

  fail(error: GatewayError, atMs: number): void {
    end(this, "failure", error, atMs);
  }

  cut(error: GatewayError, atMs: number): void {
    end(this, "partial", this.error ?? error, atMs);
  }

  close(reason: GatewayError, atMs: number): void {
    end(
      this,
      this.firstContentAtMs === undefined ? "failure" : "partial",
      this.error ?? reason,
      atMs,
    );
  }

  withhold(reason: GatewayError): void {
    if (this.cost !== undefined) return;
    this.error ??= reason;
    if (this.outcome === "success") this.outcome = "partial";
  }

  doubt(): void {
    if (this.cost !== undefined || this.suspectUsage !== undefined) return;
    this.suspectUsage = this.usage;
    this.usage = undefined;
  }

  undercount(): void {
    if (this.cost !== undefined) return;
    this.leastUsage = this.usage;
    this.usage = undefined;
  }

  estimate(usage: Usage | undefined): void {
    if (this.cost !== undefined) return;
    this.usage = usage;
    this.usageSource = "estimated";
  }

  charge(cost: Cost): void {
    if (this.outcome !== undefined) this.cost ??= cost;
  }
}

/** The one place where an attempt ends. */
function end(
  attempt: AttemptState,
  outcome: AttemptOutcome,
  error: GatewayError | undefined,
  atMs: number,
): void {
  if (attempt.outcome !== undefined) return;
  attempt.outcome = outcome;
  attempt.error = error;
  attempt.endedAtMs = atMs;
}
