/** Looks whether a reply is a right one. A fast wrong answer is no result. */

import {
  EMBEDDINGS_DIMENSIONS,
  EMBEDDINGS_INPUTS,
  IMAGE_BYTES,
  STREAM_EVENTS,
  type Scenario,
} from "./scenarios.ts";

interface Chunk {
  readonly model: string;
  readonly choices: readonly { readonly delta?: { readonly content?: string | null } }[];
}

/**
 * The model named by a reply (bytes as they came). Throws, with the beginning of the reply, when it
 * is not the whole right one.
 */
export function inspectReply(wire: string, scenario: Scenario): string {
  const headersEnd = wire.indexOf("\r\n\r\n");
  const head = wire.slice(0, headersEnd);
  const raw = wire.slice(headersEnd + 4);
  const body = /\r\ntransfer-encoding: *chunked/i.test(head) ? unchunk(Buffer.from(raw)) : raw;
  try {
    if (!head.startsWith("HTTP/1.1 200")) throw new Error("The status is not 200.");
    if (scenario.operation !== undefined) return inspectData(body, scenario.operation);
    if (scenario.isMessages === true) return inspectMessages(body);
    if (scenario.isResponses === true) return inspectResponses(body);
    if (scenario.isGemini === true) return inspectGemini(body);
    if (scenario.isCompletions === true) return inspectCompletions(body);
    return scenario.stream ? inspectStream(body) : inspectWhole(body);
  } catch (error) {
    throw new Error(`A wrong reply: ${String(error)} It began: ${wire.slice(0, 600)}`, {
      cause: error,
    });
  }
}

function inspectWhole(body: string): string {
  const reply = JSON.parse(body) as {
    readonly model: string;
    readonly usage: unknown;
    readonly choices: readonly { readonly message: { readonly content: string } }[];
  };
  if (!reply.choices[0]?.message.content.startsWith("The Rhine") || !reply.usage)
    throw new Error("Content or usage is missing.");
  return reply.model;
}

function inspectData(body: string, operation: "embeddings" | "images"): string {
  const { data, model = "" } = JSON.parse(body) as {
    readonly model?: string;
    readonly data: readonly {
      readonly embedding?: readonly number[];
      readonly b64_json?: string;
    }[];
  };
  const isRight =
    operation === "embeddings"
      ? data.length === EMBEDDINGS_INPUTS &&
        data.every(({ embedding }) => embedding?.length === EMBEDDINGS_DIMENSIONS)
      : Buffer.from(data[0]?.b64_json ?? "", "base64").length === IMAGE_BYTES;
  if (!isRight) throw new Error("Vectors or the image are not whole.");
  return model;
}

function inspectStream(body: string): string {
  const data = body
    .split("\n\n")
    .filter(Boolean)
    .map((event) => event.replace(/^data: /, ""));
  if (data.pop() !== "[DONE]") throw new Error("The end mark is missing.");
  const chunks = data.map((text) => JSON.parse(text) as Chunk);
  const words = chunks.filter((chunk) => chunk.choices[0]?.delta?.content).length;
  checkWords(words);
  return chunks[0]?.model ?? "";
}

function inspectMessages(body: string): string {
  const events = [...body.matchAll(/^data: (.*)$/gm)].map(
    ([, data = ""]) =>
      JSON.parse(data) as {
        readonly type: string;
        readonly message?: { readonly model: string };
        readonly delta?: { readonly text?: string };
      },
  );
  if (events.at(-1)?.type !== "message_stop") throw new Error("The end of the message is missing.");
  const words = events.filter(({ delta }) => delta?.text).length;
  checkWords(words);
  return events[0]?.message?.model ?? "";
}

function inspectResponses(body: string): string {
  const events = [...body.matchAll(/^data: (.*)$/gm)].map(
    ([, data = ""]) =>
      JSON.parse(data) as { readonly type: string; readonly response?: { readonly model: string } },
  );
  if (events.at(-1)?.type !== "response.completed")
    throw new Error("The end of the response is missing.");
  const words = events.filter(({ type }) => type === "response.output_text.delta").length;
  checkWords(words);
  return events[0]?.response?.model ?? "";
}

function inspectGemini(body: string): string {
  const events = [...body.matchAll(/^data: (.*?)\r?$/gm)].map(
    ([, data = ""]) =>
      JSON.parse(data) as {
        readonly modelVersion: string;
        readonly candidates: readonly {
          readonly content?: { readonly parts?: readonly { readonly text?: string }[] };
          readonly finishReason?: string;
        }[];
      },
  );
  if (events.at(-1)?.candidates[0]?.finishReason !== "STOP")
    throw new Error("The reason to finish is missing.");
  checkWords(events.filter(({ candidates }) => candidates[0]?.content?.parts?.[0]?.text).length);
  return events[0]?.modelVersion ?? "";
}

function inspectCompletions(body: string): string {
  const data = [...body.matchAll(/^data: (.*)$/gm)].map(([, text = ""]) => text);
  if (data.pop() !== "[DONE]") throw new Error("The end mark is missing.");
  const chunks = data.map(
    (text) =>
      JSON.parse(text) as {
        readonly model: string;
        readonly choices: readonly { readonly text?: string }[];
      },
  );
  checkWords(chunks.filter(({ choices }) => choices[0]?.text).length);
  return chunks[0]?.model ?? "";
}

function checkWords(words: number): void {
  if (words !== STREAM_EVENTS)
    throw new Error(`${words} content events instead of ${STREAM_EVENTS}.`);
}

function unchunk(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (size === 0) break;
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(parts).toString();
}
