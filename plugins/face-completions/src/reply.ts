/** Replies in the form of the legacy completions API: whole, and as streams. */

import {
  errorBody,
  type FaceContext,
  type FaceError,
  type FaceStream,
  type GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";

/** The reply of a chat completion. */
export function wholeReply(reply: JsonObject, context: FaceContext): JsonObject {
  const { usage } = reply;
  return {
    ...baseOf(context),
    choices: Members.objectsOf(reply.choices).map((choice) => ({
      text: textOf(choice.message),
      index: indexOf(choice),
      logprobs: null,
      finish_reason: finishOf(choice),
    })),
    ...(isObject(usage) ? { usage } : {}),
  };
}

/** The members of every reply and of every chunk. */
function baseOf({ requestId, model, startedAtMs }: FaceContext): JsonObject {
  return {
    id: `cmpl-${requestId}`,
    object: "text_completion",
    created: Math.floor(startedAtMs / 1_000),
    model,
  };
}

/** Writes the events of one stream. */
export class ChunkStream implements FaceStream {
  /** A chunk's JSON text up to its choices. */
  readonly #head: string;

  constructor(context: FaceContext) {
    this.#head = `data: ${JSON.stringify(baseOf(context)).slice(0, -1)},"choices":`;
  }

  chunk({ choices, usage }: JsonObject): string {
    let events = "";
    for (const choice of Members.objectsOf(choices)) events += this.#choice(choice);
    if (isObject(usage)) events += `${this.#head}[],"usage":${JSON.stringify(usage)}}\n\n`;
    return events;
  }

  texts(contents: readonly string[]): string {
    const head = `${this.#head}[{"text":"`;
    let text = "";
    for (const content of contents)
      if (content !== "")
        text += `${head}${content}","index":0,"logprobs":null,"finish_reason":null}]}\n\n`;
    return text;
  }

  end(): string {
    return "data: [DONE]\n\n";
  }

  failure(error: GatewayError): string {
    return `data: ${JSON.stringify(errorBody(error))}\n\n`;
  }

  /** An event for a text and for the end of a choice; none for the role alone. */
  #choice(choice: JsonObject): string {
    const text = textOf(choice.delta);
    const finish = finishOf(choice);
    if (text === "" && finish === null) return "";
    const said = `"text":${JSON.stringify(text)},"index":${indexOf(choice)}`;
    return `${this.#head}[{${said},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
  }
}

/** The reply of an error. */
export function errorReply(error: GatewayError): FaceError {
  return { status: error.status, body: { ...errorBody(error) } as unknown as JsonObject };
}

function textOf(said: JsonValue | undefined): string {
  const { content, refusal } = isObject(said) ? said : {};
  return (Members.textIn(content) ?? "") + (Members.textIn(refusal) ?? "");
}

function indexOf({ index }: JsonObject): number {
  return typeof index === "number" ? index : 0;
}

/** The API has three reasons. A request without tools gets no other. */
function finishOf({ finish_reason: reason }: JsonObject): string | null {
  if (typeof reason !== "string") return null;
  return reason === "length" || reason === "content_filter" ? reason : "stop";
}
