/** The exchange: one client request on its way through the house. */

import { checkReply, openAttempt } from "@sluice/kit";
import {
  type AbortBilling,
  type AmbiguousBilling,
  type Attempt,
  type ClientRequest,
  type Clock,
  type ErrorCodeForm,
  type Exchange,
  type Gate,
  GatewayError,
  type GatewayRequest,
  type GuardrailOutcome,
  type Identity,
  type JsonDocument,
  type Model,
  type Operation,
  type Pricer,
  type Reply,
  type Soon,
  type SpendRow,
  type Target,
} from "@sluice/spec";
import { IN_BODY, StepTrace } from "./step-trace.ts";

/** What an exchange is made from. */
export interface ExchangeOptions {
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly generation: number;
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** What `error.code` is in this client's errors. */
  readonly codeForm?: ErrorCodeForm;
  /** What must agree before the body is read. */
  readonly beforeBody?: (exchange: Exchange) => Soon<void>;
  /** Counts bytes that the exchange keeps; false: there is no room for them. */
  readonly hold?: (bytes: number, exchange: Exchange) => boolean;
  /** Reads the body and checks its shape. */
  readonly read: (exchange: Exchange) => Promise<GatewayRequest | undefined>;
  /** Notes a call before it is made. Throws when it must not be made. Absent: calls are not noted. */
  readonly note?: ((exchange: LiveExchange, attempt: Attempt) => void) | undefined;
}

/** The state of one exchange. `abort` ends it early; `end` stops its clock. */
export class LiveExchange implements Exchange {
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly generation: number;
  readonly codeForm: ErrorCodeForm | undefined;
  deadlineMs: number;
  readonly startedAtMs: number;
  /** The start on the monotonic clock. */
  readonly startedMs: number;
  readonly headers = new Map<string, string>();
  readonly state = new Map<symbol, unknown>();
  readonly gates: Gate[] = [];
  readonly attempts: Attempt[] = [];
  readonly guardrails: GuardrailOutcome[] = [];
  request: GatewayRequest | undefined;
  identity: Identity | undefined;
  model: Model | undefined;
  target: Target | undefined;
  pricer: Pricer | undefined;
  abortBilling: AbortBilling | undefined;
  ambiguousBilling: AmbiguousBilling | undefined;
  served: Attempt | undefined;
  isStorable = true;
  /** What the client was told, or would have been, when the exchange failed. */
  failure: GatewayError | undefined;
  leaseIndex = -1;
  /** What the steps did, and how long each took. */
  readonly trace: StepTrace;
  /** Milliseconds that the gateway itself took, to the headers of the reply. */
  overheadMs: number | undefined;
  /** The rows, once they are made. */
  rows: readonly SpendRow[] | undefined;
  /** Set once the rows are in the outbox. */
  isSettled = false;
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #beforeBody: ExchangeOptions["beforeBody"];
  readonly #read: ExchangeOptions["read"];
  readonly #note: ExchangeOptions["note"];
  #reply: Reply | undefined;
  #replaced: Reply[] | undefined;
  readonly hold: Exchange["hold"];
  #timer: NodeJS.Timeout;
  #settled: (() => void)[] = [];
  #isOver = false;
  #received: Promise<void> | undefined;

  constructor(options: ExchangeOptions) {
    this.id = options.id;
    this.operation = options.operation;
    this.client = options.client;
    this.generation = options.generation;
    this.codeForm = options.codeForm;
    this.#clock = options.clock;
    this.#beforeBody = options.beforeBody;
    this.#read = options.read;
    this.#note = options.note;
    const { hold } = options;
    this.hold = hold === undefined ? undefined : (bytes) => hold(bytes, this);
    this.startedAtMs = options.clock.now();
    this.startedMs = options.clock.monotonic();
    this.trace = new StepTrace(options.clock, this.startedMs);
    this.deadlineMs = this.startedMs + options.deadlineMs;
    this.#timer = this.#timeOut(options.deadlineMs, "the route's deadline");
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reply(): Reply | undefined {
    return this.#reply;
  }

  set reply(reply: Reply | undefined) {
    if (reply !== undefined) checkReply(reply);
    const before = this.#reply;
    if (before !== undefined && before !== reply && before.kind !== "whole") (this.#replaced ??= []).push(before);
    this.#reply = reply;
  }

  /** Streams and bytes that were the reply before another one was: most go on within that one. */
  get replaced(): readonly Reply[] {
    return this.#replaced ?? [];
  }

  receive(): Promise<void> {
    this.#received ??= this.#receive();
    return this.#received;
  }

  async #receive(): Promise<void> {
    const waiting = this.#beforeBody?.(this);
    if (waiting instanceof Promise) await waiting;
    // The client's time is no step's.
    const place = this.trace.turnTo(IN_BODY);
    const request = await this.#read(this);
    this.trace.turnTo(place);
    this.request = request;
    if (request?.timeoutMs !== undefined) this.#shorten(request.timeoutMs);
  }

  note(step: string, text: string, about?: string): void {
    this.trace.note(step, text, about);
  }

  beginAttempt(target: Target, provider: string, document?: JsonDocument): Attempt {
    const attempt = openAttempt({
      number: this.attempts.length + 1,
      target,
      model: this.model,
      provider,
      startedAtMs: this.#clock.now(),
    });
    attempt.document = document;
    this.#note?.(this, attempt);
    this.attempts.push(attempt);
    return attempt;
  }

  /** Who comes after the end, out of a branch that was given up, is told at once. */
  onSettle(settled: () => void): void {
    if (this.#isOver) settled();
    else this.#settled.push(settled);
  }

  /** Ends everything under way. The first reason stays. */
  abort(reason: GatewayError): void {
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  /** Moves the deadline to so many milliseconds after the start, never to a later time than it had. */
  #shorten(timeoutMs: number): void {
    const deadlineMs = this.startedMs + timeoutMs;
    if (deadlineMs >= this.deadlineMs || this.signal.aborted) return;
    this.deadlineMs = deadlineMs;
    clearTimeout(this.#timer);
    this.#timer = this.#timeOut(timeoutMs, "its own timeout", Math.max(0, deadlineMs - this.#clock.monotonic()));
  }

  #timeOut(limitMs: number, name: string, leftMs = limitMs): NodeJS.Timeout {
    return setTimeout(() => {
      this.abort(new GatewayError("deadline_exceeded", `The request took longer than ${name} of ${limitMs} ms.`));
    }, leftMs);
  }

  /** The exchange is over: its deadline no longer matters, and who waited for its end is told, once. */
  end(): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
    const settled = this.#settled;
    this.#settled = [];
    for (const tell of settled) tell();
  }
}
