/**
 * `on_cut: continue` of the step fallback: another target or model continues a stream that was cut.
 */

import { isObject, withholdReply } from "@sluice/kit";
import {
  BatchedFrames,
  batchesOf,
  type BatchSource,
  chunkFrame,
  FrameBatch,
  FrameRun,
  TOOL_PARAMETERS,
} from "@sluice/kit/internals";
import {
  type Exchange,
  type Frame,
  type GatewayError,
  type GatewayRequest,
  type Host,
  isGatewayError,
  type JsonObject,
  type Model,
  type Next,
} from "@sluice/contract";
import { fallbackClassOf, isPartOfGeneral } from "./failure-class.ts";
import type { Instead, StandInSearch } from "./search.ts";
import { wasCalled } from "../retry/attempt-budget.ts";

/** The parts of a continued stream. */
export interface Continuing {
  readonly exchange: Exchange;
  readonly next: Next;
  readonly host: Host;
  readonly search: StandInSearch;
  /** The client's request. */
  readonly request: GatewayRequest;
}

/** Marks the place where a second reply begins because the model cannot continue the first one. */
export const CUT_MARKER = "\n\n[The reply was cut here. A new reply follows.]\n\n";

/** A longer text is not sent again. */
const MAX_SAID_CHARACTERS = 262_144;

/** Whether two replies can be joined for a request: it asks for plain text and one choice. */
export function isContinuable({ stream, document }: GatewayRequest): boolean {
  if (!stream) return false;
  const { value: body } = document;
  if (TOOL_PARAMETERS.some((name) => (body[name] ?? undefined) !== undefined)) return false;
  const { response_format: format, n = 1, modalities, logprobs } = body;
  if (isObject(format) && format.type !== "text") return false;
  return (
    (n === null || n === 1) &&
    logprobs !== true &&
    !(Array.isArray(modalities) && modalities.includes("audio"))
  );
}

/** The frames of the exchange's reply, then those of the replies that continue it after a cut. */
export function continuedFrames(
  parts: Continuing,
  first: AsyncIterable<Frame>,
): AsyncIterable<Frame> {
  return new BatchedFrames(new ContinuedBatches(parts, batchesOf(first)));
}

/** The batches of one reply after the other. */
class ContinuedBatches implements BatchSource {
  readonly #parts: Continuing;
  readonly #said = new SaidText();
  #current: BatchSource;
  #isClosed = false;

  constructor(parts: Continuing, first: BatchSource) {
    this.#parts = parts;
    this.#current = first;
  }

  get isOneByOne(): boolean {
    return this.#current.isOneByOne === true;
  }

  async next(): Promise<FrameBatch | undefined> {
    for (;;) {
      let failure: unknown;
      try {
        // oxlint-disable-next-line no-await-in-loop -- batches come one after the other.
        const batch = await this.#current.next();
        if (batch !== undefined) this.#said.add(batch);
        return batch;
      } catch (error) {
        failure = error;
      }
      // oxlint-disable-next-line no-await-in-loop -- a reply begins after the cut of the earlier one.
      const marker = await this.#replace(failure);
      if (marker !== undefined) return new FrameBatch([marker]);
      if (this.#isClosed) return undefined;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#current.close();
  }

  /**
   * Goes on with another reply. Returns the frame that marks its beginning, if it needs one. Throws
   * the failure of a final cut.
   */
  async #replace(failure: unknown): Promise<Frame | undefined> {
    const stream = this.#isClosed ? undefined : await streamAfter(failure, this.#said, this.#parts);
    if (stream === undefined) throw failure;
    this.#current = batchesOf(stream.frames);
    // The client left while the other reply was looked for.
    if (this.#isClosed) await this.#current.close();
    return this.#isClosed ? undefined : stream.marker;
  }
}

interface Continued {
  readonly frames: AsyncIterable<Frame>;
  readonly marker: Frame | undefined;
}

/** The stream that continues after a cut; `undefined` when the cut is final. */
async function streamAfter(
  error: unknown,
  said: SaidText,
  parts: Continuing,
): Promise<Continued | undefined> {
  const { exchange, next } = parts;
  for (let failure = error; isCut(failure, exchange) && said.isOpen;) {
    const instead = otherTargets(exchange, parts) ?? (await parts.search.next(failure));
    if (instead === undefined) return undefined;
    const { model } = instead;
    const isPrefilled = said.text !== "" && takesPrefill(model, parts.host);
    const request = isPrefilled ? prefilled(instead.request, said.text) : instead.request;
    exchange.note(
      "fallback",
      isPrefilled ? "goes on with the cut reply at" : "begins a new reply at",
      model.id,
    );
    // A joined reply is not stored: it is the reply of neither model.
    withholdReply(exchange);
    const { reply: outer } = exchange;
    Object.assign(exchange, { model, request, target: undefined });
    try {
      await next();
      const { reply } = exchange;
      if (reply?.kind !== "stream") return undefined;
      if (isPrefilled || said.text === "") return { frames: reply.frames, marker: undefined };
      const marker = said.marker();
      said.clear();
      return { frames: reply.frames, marker };
    } catch (thrown) {
      failure = thrown;
    } finally {
      exchange.reply = outer;
    }
  }
  return undefined;
}

/** Whether the upstream caused the cut, and the client is still connected. */
function isCut(error: unknown, { signal }: Exchange): error is GatewayError {
  if (!isGatewayError(error) || signal.aborted) return false;
  const name = fallbackClassOf(error);
  return name !== undefined && (name === "general" || isPartOfGeneral(name));
}

/** The same model with the targets that were not called. */
function otherTargets(exchange: Exchange, { request }: Continuing): Instead | undefined {
  const { model } = exchange;
  const targets = model?.targets.filter(({ id }) => !wasCalled(exchange, id)) ?? [];
  return model === undefined || targets.length === 0
    ? undefined
    : { model: { ...model, targets }, request };
}

/** Whether every target of a model continues the assistant's last message. */
function takesPrefill({ info, targets }: Model, { providers }: Host): boolean {
  const said = info?.supports["supports_assistant_prefill"];
  if (said !== undefined) return said;
  return targets.every(
    ({ provider, model }) =>
      providers.find(provider)?.translation.capabilities.traits?.(model)?.prefills === true,
  );
}

function prefilled(request: GatewayRequest, text: string): GatewayRequest {
  const { messages } = request.document.value;
  const list = Array.isArray(messages) ? messages : [];
  const document = request.document.with({
    messages: [...list, { role: "assistant", content: text }] as JsonObject[],
  });
  return { ...request, document };
}

/**
 * A text that a frame shows in place of its own, to find what a run of frames says. It needs no
 * escapes in JSON.
 */
const PROBE = "?probe?";

/** The content that the client has received. */
class SaidText {
  text = "";
  /**
   * Whether the content can be continued: no tool call, no end of a choice, no text beyond the
   * bound.
   */
  isOpen = true;
  #last: Frame | undefined;

  add(batch: FrameBatch): void {
    this.#last = batch.last ?? this.#last;
    for (const item of batch.items) {
      if (!this.isOpen) return;
      if (item instanceof FrameRun) this.#addRun(item);
      else this.text += this.#read(item);
      if (this.text.length > MAX_SAID_CHARACTERS) this.isOpen = false;
    }
  }

  /** A chunk of the first reply that reports the cut. */
  marker(): Frame {
    const { usage: _usage, ...names } = this.#last?.chunk() ?? {};
    return chunkFrame({
      ...names,
      choices: [{ index: 0, delta: { content: CUT_MARKER }, finish_reason: null }],
    });
  }

  /** A new reply begins. */
  clear(): void {
    this.text = "";
  }

  /** Of a run whose frames say content, one frame is read. Of any other run, each. */
  #addRun(run: FrameRun): void {
    if (this.#read(run.saying(PROBE)) === PROBE)
      this.text += JSON.parse(`"${run.said()}"`) as string;
    else for (const frame of run.frames()) this.text += this.#read(frame);
  }

  /** The content of a frame. */
  #read(frame: Frame): string {
    const { choices } = frame.chunk();
    let text = "";
    for (const choice of Array.isArray(choices) ? choices : []) {
      if (!isObject(choice)) continue;
      const { delta, finish_reason: finish } = choice;
      const { content, tool_calls: calls } = isObject(delta) ? delta : {};
      if (typeof finish === "string" || (calls ?? undefined) !== undefined) this.isOpen = false;
      if (typeof content === "string") text += content;
    }
    return text;
  }
}
