/**
 * The output of one stream's translator: frames in a queue, and what the attempt's record keeps of
 * them.
 */

import {
  type AttemptWriter,
  type Clock,
  type EventForm,
  type Frame,
  type FrameRole,
  type StreamSink,
  type StreamTranslator,
  type UpstreamEvent,
  type Usage,
} from "@sluice/contract";
import {
  type ArrivedText,
  checkChunk,
  FrameBatch,
  type FormedEvents,
  FrameRun,
  type Relay,
} from "@sluice/kit/internals";
import { isFinished } from "../openai/repair/finished.ts";
import { ObservedText } from "../openai/tokens/observed-text.ts";
import { foreignReplyId } from "../transport/upstream-request-id.ts";
import { FormLessons } from "./form-lessons.ts";
import { WaitingEvents } from "./waiting-events.ts";

/** Options of an output. */
export interface OutputOptions {
  readonly translator: StreamTranslator;
  readonly attempt: AttemptWriter;
  /** The id of chunks where the gateway chooses it. */
  readonly replyId: string;
  readonly includeUsage: boolean;
  readonly clock: Clock;
  /** The attempt's beginning on the monotonic clock. */
  readonly startedMs: number;
  readonly dropListener?: DropListener | undefined;
  /** Gathers the events in the client's own dialect. Absent: the stream is translated alone. */
  readonly relay?: Relay | undefined;
}

/** Receives the first unreadable event of a stream that is left out. */
export interface DropListener {
  /** Called once for a stream. */
  dropped(): void;
}

/** An output that readers of both framings write to. */
export interface FormedOutput extends FormedEvents {
  /** An event of a provider's own framing. */
  framedEvent(event: UpstreamEvent): void;
}

/**
 * Gives events to the translator, and queues its frames. Events of a known form pass the translator
 * by.
 */
export class StreamOutput implements StreamSink, FormedOutput {
  committed = false;
  takesForm = false;
  isDone = false;
  /** Whether events of one form may be taken together: of a held stream each is measured. */
  mayRun = true;
  readonly relay: Relay | undefined;
  readonly #options: OutputOptions;
  readonly #observed = new ObservedText();
  #queue: (Frame | FrameRun)[] = [];
  readonly #waiting = new WaitingEvents();
  #lastContent: Frame | FrameRun | undefined;
  readonly #lessons = new FormLessons();
  /** The name of the events that have the form, in a provider's own framing. */
  #formName: string | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.relay = options.relay;
    options.attempt.observe(this.#observed);
  }

  get hasForm(): boolean {
    return this.#lessons.form !== undefined;
  }

  /** Whether frames wait. */
  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** The waiting frames. They stay. */
  get waiting(): readonly (Frame | FrameRun)[] {
    return this.#queue;
  }

  /** Takes all that waits; `undefined` for nothing. */
  takeBatch(): FrameBatch | undefined {
    this.#waiting.taken();
    const relayed = this.relay?.take();
    return this.isEmpty && relayed === undefined ? undefined : new FrameBatch(this.take(), relayed);
  }

  /** Takes the waiting frames. */
  take(): readonly (Frame | FrameRun)[] {
    const queue = this.#queue;
    this.#queue = [];
    return queue;
  }

  /** Whether the last content ended the reply, and its usage is known. */
  get isFinished(): boolean {
    const last = this.#lastContent;
    return isFinished(last instanceof FrameRun ? last.last : last, this.#options.attempt.usage);
  }

  event(event: UpstreamEvent, wire: string | undefined, isAscii = false): void {
    if (this.isDone) return;
    this.#waiting.add(event.data, this.committed && this.mayRun);
    this.takesForm = this.mayRun && this.#lessons.begin(wire);
    if (!this.takesForm) this.#lessons.drop();
    this.#options.translator.event(event, this);
    const runnable = this.relay?.event(event, this.isDone, isAscii) ?? "same";
    if (!this.takesForm) return;
    this.takesForm = false;
    // No run may come before the first content, which is measured and recorded.
    const isFirm = this.committed && runnable !== "none";
    if (!isFirm || runnable === "other") this.#lessons.drop();
    if (!isFirm) return;
    const frame = this.#queue.at(-1);
    this.#lessons.end(event.data, wire, frame instanceof FrameRun ? undefined : frame);
  }

  framedEvent(event: UpstreamEvent): void {
    if (this.isDone) return;
    const run = event.event === this.#formName ? this.read({ text: event.data }, 0) : undefined;
    if (run?.end === event.data.length) {
      this.run(run);
      return;
    }
    this.event(event, event.data);
    this.#formName = event.event;
  }

  read(arrived: ArrivedText, at: number): FrameRun | undefined {
    if (this.isDone) return undefined;
    // An estimate would read the texts.
    const kept = this.relay === undefined ? "frames" : this.#isUncounted ? "texts" : "count";
    return this.#lessons.form?.read(arrived, at, kept);
  }

  run(run: FrameRun): void {
    this.#lessons.repeated += run.count;
    if (run.wire !== undefined) this.relay?.run(run.wire.text, run.wire.isAscii);
    this.#queue.push(run);
    this.#lastContent = run;
    if (this.#isUncounted) this.#observed.addInside(run.said());
    this.#options.translator.repeated?.(run.last, run.count, run.lastData);
  }

  frame(frame: Frame, role: FrameRole): void {
    if (this.#waiting.isLarge) checkChunk(frame.chunk());
    this.#lessons.add(role, this.committed);
    if (role === "usage" && !this.#options.includeUsage) return;
    if (role === "content") {
      if (!this.committed) this.#commit(frame);
      this.#lastContent = frame;
      // Kept in case no usage follows; not needed once one with completion tokens has arrived.
      if (this.#isUncounted) this.#observed.add(frame);
    }
    this.#queue.push(frame);
  }

  form(form: EventForm): void {
    this.#lessons.declared = form;
  }

  dropped(): void {
    const { attempt, dropListener } = this.#options;
    attempt.drop();
    if (attempt.droppedEvents === 1) dropListener?.dropped();
  }

  usage(usage: Usage): void {
    this.#options.attempt.report(usage);
  }

  usageSoFar(usage: Usage): void {
    this.#options.attempt.reportLeast(usage);
  }

  done(): void {
    this.isDone = true;
  }

  get #isUncounted(): boolean {
    return (this.#options.attempt.usage?.completionTokens ?? 0) === 0;
  }

  #commit(frame: Frame): void {
    const { attempt, clock, startedMs, replyId } = this.#options;
    this.committed = true;
    attempt.firstContent(clock.now());
    attempt.waited(clock.monotonic() - startedMs);
    // The translator parsed a frame with the upstream's id; a frame of the gateway shows its own id
    // as text.
    if (frame.raw?.includes(replyId) !== true)
      attempt.identify(foreignReplyId(frame.chunk().id, replyId));
  }
}
