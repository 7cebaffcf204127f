/** `on_cut: continue` of the step fallback: another target or model continues a stream that was cut. */

import { closing } from "@sluice/runtime";
import { isObject, withholdReply } from "@sluice/kit";
import { chunkFrame, TOOL_PARAMETERS } from "@sluice/kit/internals";
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
  return (n === null || n === 1) && logprobs !== true && !(Array.isArray(modalities) && modalities.includes("audio"));
}

/** The frames of the exchange's reply, then those of the replies that continue it after a cut. */
export function continuedFrames(parts: Continuing, first: AsyncIterable<Frame>): AsyncIterable<Frame> {
  let current = first[Symbol.asyncIterator]();
  const frames = goOn(
    parts,
    () => current,
    (stream) => (current = stream[Symbol.asyncIterator]()),
  );
  return closing(frames, () => current.return?.());
}

async function* goOn(
  parts: Continuing,
  current: () => AsyncIterator<Frame>,
  replace: (stream: AsyncIterable<Frame>) => void,
): AsyncGenerator<Frame, void, undefined> {
  const said = new SaidText();
  try {
    for (;;) {
      let result;
      try {
        result = await current().next();
      } catch (error) {
        const stream = await streamAfter(error, said, parts);
        if (stream === undefined) throw error;
        if (stream.marker !== undefined) yield stream.marker;
        replace(stream.frames);
        continue;
      }
      if (result.done === true) return;
      said.add(result.value);
      yield result.value;
    }
  } finally {
    await current().return?.();
  }
}

interface Continued {
  readonly frames: AsyncIterable<Frame>;
  readonly marker: Frame | undefined;
}

/** The stream that continues after a cut; `undefined` when the cut is final. */
async function streamAfter(error: unknown, said: SaidText, parts: Continuing): Promise<Continued | undefined> {
  const { exchange, next } = parts;
  for (let failure = error; isCut(failure, exchange) && said.isOpen;) {
    const instead = otherTargets(exchange, parts) ?? (await parts.search.next(failure));
    if (instead === undefined) return undefined;
    const { model } = instead;
    const isPrefilled = said.text !== "" && takesPrefill(model, parts.host);
    const request = isPrefilled ? prefilled(instead.request, said.text) : instead.request;
    exchange.note("fallback", isPrefilled ? "goes on with the cut reply at" : "begins a new reply at", model.id);
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
  return model === undefined || targets.length === 0 ? undefined : { model: { ...model, targets }, request };
}

/** Whether every target of a model continues the assistant's last message. */
function takesPrefill({ info, targets }: Model, { providers }: Host): boolean {
  const said = info?.supports["supports_assistant_prefill"];
  if (said !== undefined) return said;
  return targets.every(
    ({ provider, model }) => providers.find(provider)?.translation.capabilities.traits?.(model)?.prefills === true,
  );
}

function prefilled(request: GatewayRequest, text: string): GatewayRequest {
  const { messages } = request.document.value;
  const list = Array.isArray(messages) ? messages : [];
  const document = request.document.with({ messages: [...list, { role: "assistant", content: text }] as JsonObject[] });
  return { ...request, document };
}

/** The content that the client has received. */
class SaidText {
  text = "";
  /** Whether the content can be continued: no tool call, no end of a choice, no text beyond the bound. */
  isOpen = true;
  #names: JsonObject = {};

  add(frame: Frame): void {
    if (!this.isOpen) return;
    const { choices, usage: _usage, ...names } = frame.chunk();
    this.#names = names;
    for (const choice of Array.isArray(choices) ? choices : []) {
      if (!isObject(choice)) continue;
      const { delta, finish_reason: finish } = choice;
      const { content, tool_calls: calls } = isObject(delta) ? delta : {};
      if (typeof finish === "string" || (calls ?? undefined) !== undefined) this.isOpen = false;
      if (typeof content === "string") this.text += content;
    }
    if (this.text.length > MAX_SAID_CHARACTERS) this.isOpen = false;
  }

  /** A chunk of the first reply that reports the cut. */
  marker(): Frame {
    return chunkFrame({ ...this.#names, choices: [{ index: 0, delta: { content: CUT_MARKER }, finish_reason: null }] });
  }

  /** A new reply begins. */
  clear(): void {
    this.text = "";
  }
}
