/** The exchange: one client request on its way through the gateway, its time and its end. */

import { checkReply, type Deadline, deadlinesOf, LateSignal } from "@sluice/kit/internals";
import { type ExchangeServices, openAttempt, SERVICES } from "@sluice/runtime";
import {
  type Admission,
  type AttemptWriter,
  type ClientRequest,
  type Clock,
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type Identity,
  type JsonDocument,
  type Model,
  type Operation,
  type Reply,
  type Slots,
  type SpendRow,
  type Target,
  type Lifetime,
} from "@sluice/contract";
import { type BeforeBody, runBeforeBody } from "./compose.ts";
import { IN_BODY, StepTrace } from "./steps/trace.ts";

const NONE: readonly BeforeBody[] = Object.freeze([]);

/** Writes the notes of one exchange's calls. */
export interface NoteWriter {
  /** `undefined`: the caller does not wait. */
  write(exchange: LiveExchange, attempt: AttemptWriter): Promise<void> | undefined;
}

/** The route of an exchange, as a pipeline names it. */
export interface ExchangeRoute {
  readonly method: string;
  readonly path: string;
}

/** The parts of an exchange. */
export interface ExchangeOptions {
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly generation: number;
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** The decisions of steps before the body is read. Absent: none. */
  readonly beforeBody?: readonly BeforeBody[];
  /** The account of the bytes that the exchange keeps. Absent: they are not counted. */
  readonly held?: {
    /** Returns false where there is no room for more bytes. */
    take(bytes: number, identity: Identity | undefined): boolean;
  };
  /** Its route in the pipeline. Absent: it has none. */
  readonly route?: ExchangeRoute | undefined;
  /** Reads the body and checks its shape. */
  readonly read: (exchange: Exchange) => Promise<GatewayRequest | undefined>;
  /**
   * Notes a call before it is made. Throws or rejects when it must not be made. Absent: calls are
   * not noted.
   */
  readonly note?: NoteWriter | undefined;
}

/** The state of one exchange. `abort` ends it early; `end` stops its clock. */
export class LiveExchange implements Exchange, ExchangeServices {
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly generation: number;
  readonly route: ExchangeRoute | undefined;
  readonly lifetime: ExchangeLifetime;
  readonly headers = new Map<string, string>();
  readonly slots: Slots = [];
  readonly attempts: AttemptWriter[] = [];
  request: GatewayRequest | undefined;
  identity: Identity | undefined;
  model: Model | undefined;
  target: Target | undefined;
  /** The error that the client got, or would have got, when the exchange failed. */
  failure: GatewayError | undefined;
  leaseIndex = -1;
  /** The outcomes and durations of the steps. */
  readonly trace: StepTrace;
  /** Milliseconds that the gateway itself took, to the headers of the reply. */
  overheadMs: number | undefined;
  /** The rows, once they are made. */
  rows: readonly SpendRow[] | undefined;
  /** Set once the rows are in the outbox. */
  isSettled = false;
  /** What ends it early. */
  readonly ending = new LateSignal(this);
  readonly #clock: Clock;
  readonly #beforeBody: readonly BeforeBody[];
  readonly #read: ExchangeOptions["read"];
  readonly #note: ExchangeOptions["note"];
  #reply: Reply | undefined;
  #replaced: Reply[] | undefined;
  readonly hold: ExchangeServices["hold"];
  #received: Promise<GatewayRequest | undefined> | undefined;

  constructor(options: ExchangeOptions) {
    this.id = options.id;
    this.operation = options.operation;
    this.client = options.client;
    this.generation = options.generation;
    this.route = options.route;
    this.#clock = options.clock;
    this.#beforeBody = options.beforeBody ?? NONE;
    this.#read = options.read;
    this.#note = options.note;
    const { held } = options;
    this.hold = held === undefined ? undefined : (bytes) => held.take(bytes, this.identity);
    this.lifetime = new ExchangeLifetime(options.clock, options.deadlineMs, (reason) =>
      this.abort(reason),
    );
    this.trace = new StepTrace(options.clock, this.lifetime.startedMs);
    SERVICES.set(this, this);
  }

  get startedAtMs(): number {
    return this.lifetime.startedAtMs;
  }

  /** The start on the monotonic clock. */
  get startedMs(): number {
    return this.lifetime.startedMs;
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  get reply(): Reply | undefined {
    return this.#reply;
  }

  set reply(reply: Reply | undefined) {
    if (reply !== undefined) checkReply(reply);
    const before = this.#reply;
    if (before !== undefined && before !== reply && before.kind !== "whole")
      (this.#replaced ??= []).push(before);
    this.#reply = reply;
  }

  /** Streams and bytes of replaced replies. Most are read through the current reply. */
  get replaced(): readonly Reply[] {
    return this.#replaced ?? [];
  }

  readBody(): Promise<GatewayRequest | undefined> {
    this.#received ??= this.#receive();
    return this.#received;
  }

  async #receive(): Promise<GatewayRequest | undefined> {
    const waiting = runBeforeBody(this.#beforeBody, this);
    if (waiting instanceof Promise) await waiting;
    // The time that the client takes is not attributed to a step.
    const place = this.trace.turnTo(IN_BODY);
    const request = await this.#read(this);
    this.trace.turnTo(place);
    this.request = request;
    if (request?.timeoutMs !== undefined && !this.ending.aborted)
      this.lifetime.shorten(request.timeoutMs);
    return request;
  }

  note(step: string, text: string, about?: string): void {
    this.trace.note(step, text, about);
  }

  openAttempt(
    { model }: Exchange,
    target: Target,
    provider: string,
    document?: JsonDocument,
    admission?: Admission,
  ): AttemptWriter {
    const attempt = openAttempt({
      number: this.attempts.length + 1,
      target,
      model,
      provider,
      startedAtMs: this.#clock.now(),
      document,
      admission,
    });
    attempt.note(this.#note?.write(this, attempt));
    this.attempts.push(attempt);
    return attempt;
  }

  /** Takes an attempt from the list: its call must not be made, and it has no row. */
  withdraw(attempt: AttemptWriter): void {
    const index = this.attempts.indexOf(attempt);
    if (index >= 0) this.attempts.splice(index, 1);
  }

  /** Ends everything under way. The first reason stays. */
  abort(reason: GatewayError): void {
    this.ending.abort(reason);
  }

  /** Ends the exchange: clears its deadline and runs the callbacks for its end, once. */
  end(): void {
    this.lifetime.end();
  }
}

/** Ends an exchange early. */
type Abort = (reason: GatewayError) => void;

/** The clock of one exchange. `end` stops it. */
class ExchangeLifetime implements Lifetime {
  readonly startedAtMs: number;
  /** The start on the monotonic clock. */
  readonly startedMs: number;
  deadlineMs: number;
  readonly #clock: Clock;
  readonly #abort: Abort;
  /** The route's deadline, while it holds. */
  readonly #limit: Deadline;
  /** The client's own, which is earlier. */
  #timer: NodeJS.Timeout | undefined;
  #settled: (() => void)[] = [];
  #isOver = false;

  /** Starts the clock. `limitMs`: the route's deadline. */
  constructor(clock: Clock, limitMs: number, abort: Abort) {
    this.#clock = clock;
    this.#abort = abort;
    this.startedAtMs = clock.now();
    this.startedMs = clock.monotonic();
    this.deadlineMs = this.startedMs + limitMs;
    this.#limit = deadlinesOf(limitMs).begin(() => this.#pass(limitMs, "the route's deadline"));
  }

  /** Callbacks registered after the end, from an abandoned branch, run immediately. */
  onSettle(settled: () => void): void {
    if (this.#isOver) settled();
    else this.#settled.push(settled);
  }

  /**
   * Moves the deadline to so many milliseconds after the start, never to a later time than it had.
   */
  shorten(timeoutMs: number): void {
    const deadlineMs = this.startedMs + timeoutMs;
    if (deadlineMs >= this.deadlineMs) return;
    this.deadlineMs = deadlineMs;
    this.#limit.end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#pass(timeoutMs, "its own timeout"),
      Math.max(0, deadlineMs - this.#clock.monotonic()),
    );
  }

  /** Ends the exchange: clears its deadline and runs the callbacks for its end, once. */
  end(): void {
    this.#limit.end();
    clearTimeout(this.#timer);
    this.#isOver = true;
    const settled = this.#settled;
    this.#settled = [];
    for (const callback of settled) callback();
  }

  #pass(limitMs: number, name: string): void {
    this.#abort(
      new GatewayError(
        "deadline_exceeded",
        `The request took longer than ${name} of ${limitMs} ms.`,
      ),
    );
  }
}
