/** Writes server-sent events with back-pressure, and reports failures inside the stream. */

import { setTimeout as pause } from "node:timers/promises";
import type { Frame, GatewayError, StreamReply } from "@sluice/contract";
import {
  asGatewayError,
  batchesOf,
  type BatchSource,
  type FrameBatch,
} from "@sluice/kit/internals";
import type { ReplyForm, StreamForm } from "../form/reply-form.ts";
import { drained } from "./drained.ts";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import type { Outgoing } from "./outgoing.ts";

/** Buffered text that is longer than this is written before the end of the event loop's turn. */
const MAX_PENDING_CHARACTERS = 65_536;
// oxlint-disable-next-line no-control-regex -- they are ASCII too.
const ASCII = /^[\u0000-\u007f]*$/;
/**
 * The pause before a failure that must reach the client in a piece of its own. A client that gets
 * it with others knows the failure by the event before it, or fails at a text that is no event.
 */
const ALONE_MS = 25;
/** The time in which a stream must end after its exchange. A later one is cut. */
const GRACE_MS = 250;

/**
 * Writes a stream to its end. Frames that are there at once go out in one write. A failure becomes
 * one error event and no end mark; it is returned, not thrown. `settle` makes the rows durable
 * before the client sees the end, and returns the text to write before it: comments, and events
 * that follow the stream's `last` frame. A stream without a frame for `heartbeatMs` milliseconds
 * writes the form's heartbeat. `signal` ends the stream, also one that a step replaced: its reason
 * is then the failure.
 */
export async function writeStream(
  response: Outgoing,
  reply: StreamReply,
  headers: string[],
  heartbeatMs: number,
  form: ReplyForm,
  settle: Settle,
  signal?: AbortSignal,
): Promise<GatewayError | undefined> {
  // Some clients read `text/*` without a charset as ISO-8859-1.
  headers.push(
    "content-type",
    "text/event-stream; charset=utf-8",
    "cache-control",
    "no-cache",
    "x-accel-buffering",
    "no",
  );
  response.writeHead(reply.status, headers);
  const heartbeat = startHeartbeat(response, heartbeatMs, form.heartbeat);
  const batches = openBatches(reply);
  const stream = form.stream(batches.relays);
  const writer = new EventWriter(response, heartbeat, stream);
  const end: End = { isCut: false };
  const written = writeFrames(batches, response, writer, end);
  let failure = await (signal === undefined ? written : untilCut(written, signal, end));
  if (failure !== undefined) writer.flush();
  heartbeat.stop();
  let rest = "";
  try {
    const settling = settle(failure, writer.last, stream);
    // Most rows are durable at the end of this turn: the last frames and the end are one write
    // then.
    writer.flushAfterTurn();
    rest = await settling;
  } catch (error) {
    // The client gets the first failure.
    failure ??= asGatewayError(error);
  }
  if (failure === undefined) {
    try {
      // What a client that has left did not get whole is not kept.
      const last = response.destroyed ? "" : stream.end();
      rest += last instanceof Promise ? await last : last;
    } catch (error) {
      failure = asGatewayError(error);
    }
  }
  if (failure !== undefined) rest = await withFailure(writer, rest, stream, failure);
  writer.end(rest);
  return failure;
}

/** The last text of a failed stream. One that must be alone waits until the others are sent. */
async function withFailure(
  writer: EventWriter,
  rest: string,
  form: StreamForm,
  failure: GatewayError,
): Promise<string> {
  const text = rest + form.failure(failure);
  const alone = form.failureAlone(failure);
  if (alone === undefined) return text;
  writer.send(text);
  await pause(ALONE_MS);
  return alone;
}

/** Makes the rows of a stream durable, and returns the text before its end. */
type Settle = (
  failure: GatewayError | undefined,
  last: Frame | undefined,
  form: StreamForm,
) => Promise<string>;

/** Whether a stream was ended before its own end. */
interface End {
  isCut: boolean;
}

/** The result of a stream, or the reason of its signal. The race is per stream, not per frame. */
async function untilCut(
  written: Promise<GatewayError | undefined>,
  signal: AbortSignal,
  end: End,
): Promise<GatewayError | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: () => void = () => undefined;
  const cut = new Promise<GatewayError>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => {
        end.isCut = true;
        resolve(asGatewayError(signal.reason));
      }, GRACE_MS);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([written, cut]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** The batches of a reply. A step's own stream that cannot be opened fails when it is read. */
function openBatches({ frames }: StreamReply): BatchSource {
  try {
    return batchesOf(frames);
  } catch (error) {
    return { next: () => Promise.reject(error), close: () => undefined };
  }
}

async function writeFrames(
  batches: BatchSource,
  response: Outgoing,
  writer: EventWriter,
  end: End,
): Promise<GatewayError | undefined> {
  let open: BatchSource | undefined;
  let failure: GatewayError | undefined;
  try {
    for (;;) {
      open = undefined;
      const batch = await batches.next();
      if (batch === undefined) break;
      open = batches;
      if (end.isCut) break;
      const full = writer.write(batch, pendingOf(batches));
      if (full !== undefined) await full;
      if (response.destroyed) break;
    }
  } catch (error) {
    failure = asGatewayError(error);
  }
  try {
    await open?.close();
  } catch (error) {
    failure ??= asGatewayError(error);
  }
  return failure;
}

/** How long written frames may wait for more: not at all, for this turn, or for the end. */
type Pending = "none" | "turn" | "end";

function pendingOf({ isOneByOne, isAtEnd }: BatchSource): Pending {
  if (isAtEnd === true) return "end";
  return isOneByOne === true ? "turn" : "none";
}

/** Writes batches. Those of one frame are gathered for one turn of the event loop. */
class EventWriter {
  readonly #response: Outgoing;
  readonly #heartbeat: Heartbeat;
  readonly #form: StreamForm;
  #pending = "";
  #isAscii = true;
  #lastBatch: FrameBatch | undefined;
  #isScheduled = false;

  constructor(response: Outgoing, heartbeat: Heartbeat, form: StreamForm) {
    this.#response = response;
    this.#heartbeat = heartbeat;
    this.#form = form;
  }

  /** The frame that was written last. */
  get last(): Frame | undefined {
    return this.#lastBatch?.last;
  }

  /** Takes frames. Returns a promise when the client reads more slowly than the upstream writes. */
  write(batch: FrameBatch, pending: Pending): Promise<void> | undefined {
    if (batch.items.length > 0) this.#lastBatch = batch;
    this.#pending += this.#form.text(batch);
    if (this.#isAscii) this.#isAscii = this.#form.isAscii(batch);
    if (pending === "none" || this.#pending.length > MAX_PENDING_CHARACTERS) this.flush();
    else if (pending === "turn" && !this.#isScheduled) this.#schedule();
    return this.#response.writableNeedDrain ? drained(this.#response) : undefined;
  }

  /** Writes what waits and this text, which is not the end. */
  send(text: string): void {
    this.#pending += text;
    this.#isAscii &&= ASCII.test(text);
    this.flush();
  }

  flush(): void {
    const pending = this.#pending;
    // Node counts the bytes of UTF-8 for the length of the chunk. Those of ISO-8859-1 are known.
    const encoding = this.#isAscii ? "latin1" : "utf8";
    this.#pending = "";
    this.#isAscii = true;
    if (pending === "" || this.#response.destroyed) return;
    this.#response.write(pending, encoding);
    this.#heartbeat.wrote();
  }

  /** Writes what waits for the end, if the end has not come in this turn of the event loop. */
  flushAfterTurn(): void {
    if (this.#pending !== "") setImmediate(() => this.flush());
  }

  /** Ends the response: what waits and this text are one write. */
  end(text: string): void {
    const isAscii = this.#isAscii && ASCII.test(text);
    const pending = this.#pending;
    this.#pending = "";
    this.#response.end(pending + text, isAscii ? "latin1" : "utf8");
  }

  #schedule(): void {
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }
}
