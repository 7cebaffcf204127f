/** Attempts: the upstream calls of an exchange, and the one way to write their records. */

import type { GatewayError } from "./error.ts";
import type { JsonDocument } from "./json.ts";
import type { Model } from "./model.ts";
import type { Target } from "./target.ts";
import type { Cost, Usage, UsageSource } from "./usage.ts";

/**
 * How an attempt ended. `partial`: a part of the reply arrived, or the client did not get all of
 * it.
 */
export type AttemptOutcome = "success" | "failure" | "partial";

/**
 * One upstream call that the gates of an exchange are asked to admit. The object itself is the id:
 * it is compared, never copied.
 */
export interface Admission {
  readonly target: Target;
  /** What a gate reserved under a budget for this call. Absent: no budget holds for it. */
  reserved?: Usage | undefined;
}

/** The text of a reply, as far as it was read. */
export interface ReplyText {
  /** Texts to count the tokens of: the whole text, or a sample of a long one. */
  texts(): readonly string[];
  /** The length of the reply as a multiple of the sample. 1: the texts are all of it. */
  readonly scale: number;
}

/** One upstream call, for its readers. The ledger makes a row of it. */
export interface Attempt {
  readonly number: number;
  readonly target: Target;
  /** The model of the exchange at the time of the call: after a fallback, the fallback model. */
  readonly model?: Model | undefined;
  /**
   * The name under which the provider's models are priced: the plugin's, unless the provider
   * declares another.
   */
  readonly provider: string;
  readonly startedAtMs: number;
  readonly firstContentAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  /** Milliseconds spent waiting for the upstream, to its first content on a stream. */
  readonly upstreamMs: number | undefined;
  /** `undefined` while it runs. */
  readonly outcome: AttemptOutcome | undefined;
  /** Why it did not succeed. Set before the outcome where the gateway ends the call. */
  readonly error: GatewayError | undefined;
  readonly usage: Usage | undefined;
  readonly usageSource: UsageSource | undefined;
  /**
   * What to count where the upstream reports no usage, or the reply was cut before it. `undefined`:
   * nothing can be counted.
   */
  readonly replyText: ReplyText | undefined;
  /** The reported usage that cannot be true: `usage` is then an estimate. */
  readonly suspectUsage?: Usage | undefined;
  /**
   * Whether the request was written to the upstream in full and nothing shows that it costs
   * nothing, as a refusal does. An attempt that fails in this state may have been billed:
   * `isAmbiguous` of the runtime.
   */
  readonly isUnanswered?: boolean | undefined;
  /** The status of the upstream's response; `undefined` before it, and for native calls. */
  readonly upstreamStatus?: number | undefined;
  /** The upstream's own id of the request, from the headers of its response. */
  readonly upstreamRequestId?: string | undefined;
  /**
   * The reply's id as the client sees it, where the upstream chose it. Absent: the gateway did, or
   * the reply has none.
   */
  readonly completionId?: string | undefined;
  /** Unreadable events of its stream that were left out of the reply. Absent: none. */
  readonly droppedEvents?: number | undefined;
  /** What the upstream reported of a reply before it was cut: an estimate is at least this. */
  readonly leastUsage?: Usage | undefined;
  /**
   * What was reserved under a budget: the usage of an attempt that can neither be read nor counted.
   */
  readonly reserved?: Usage | undefined;
  /**
   * The body that was sent, where that is a part of the request: some of its inputs. Absent: the
   * request's.
   */
  readonly document?: JsonDocument | undefined;
  /** Its cost, by its row. Set before the exchange is settled. */
  readonly cost?: Cost | undefined;
  /**
   * Settles before the call may be made: at the end of the turn of the event loop. Rejects with
   * `overloaded` when the spend row cannot be stored; the attempt then leaves the exchange. Absent:
   * there is no wait.
   */
  readonly noted?: Promise<void> | undefined;
  /**
   * The admission that the gates of the exchange gave to this call. Absent: the exchange has no
   * gates.
   */
  readonly admission?: Admission | undefined;
}

/**
 * An attempt with the methods that write it: its state machine. `beginAttempt` of the kit returns
 * it to the step that dispatches the call. That step reports the call's progress and calls
 * `succeed`, `fail` or `cut` once. A method that does not fit the state changes nothing, because a
 * client may leave at any time: the first outcome stands.
 */
export interface AttemptWriter extends Attempt {
  /** The wait for the note of the call; `undefined`: it is over. */
  note(written: Promise<void> | undefined): void;
  /**
   * A budget has reserved this usage for it. `undefined`: nothing stands in for a usage that cannot
   * be counted.
   */
  reserve(usage: Usage | undefined): void;

  /** The request was written to the upstream in full. */
  sent(): void;
  /** The upstream bills nothing: it refused the request, or cannot have read it. */
  unbilled(): void;
  /** The head of the response arrived. */
  respond(status: number | undefined, requestId: string | undefined): void;
  /** The wait for the upstream took so long. The first call counts. */
  waited(ms: number): void;
  /** The first content arrived. The first call counts. */
  firstContent(atMs: number): void;
  /** The upstream chose this id for the reply. */
  identify(completionId: string | undefined): void;
  /** One unreadable event was left out. */
  drop(): void;
  /** The text to count if no usage arrives; `undefined`: none. */
  observe(text: ReplyText | undefined): void;
  /** The usage of the whole reply. A later call replaces an earlier one. */
  report(usage: Usage, source?: UsageSource): void;
  /** The usage so far, of a reply that has no total. */
  reportLeast(usage: Usage | undefined): void;

  /**
   * The gateway ends the call, or withholds its reply, for this reason. The first reason stands.
   */
  interrupt(reason: GatewayError): void;
  /** The reply was read in full. An interrupted attempt is `partial`. */
  succeed(atMs: number): void;
  /** The call failed: no part of the reply was handed on. */
  fail(error: GatewayError, atMs: number): void;
  /** A part of the reply was handed on. The reason of an interruption stands. */
  cut(error: GatewayError, atMs: number): void;
  /**
   * Ends an attempt that is still open: `cut` after its first content, else `failure`. The reason
   * of an interruption stands.
   */
  close(reason: GatewayError, atMs: number): void;
  /** The client did not get all of a reply, for this reason: a success becomes `partial`. */
  withhold(reason: GatewayError): void;

  /** The reported usage cannot be true: it becomes `suspectUsage`. */
  doubt(): void;
  /** The reported usage is incomplete: it becomes `leastUsage`. */
  undercount(): void;
  /** The usage as it was counted. */
  estimate(usage: Usage | undefined): void;
  /** The cost of the ended attempt, once. Nothing that a price depends on changes afterwards. */
  charge(cost: Cost): void;
}
