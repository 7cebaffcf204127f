/** Looks whether a reply is a right one. A fast wrong answer is no result. */

import { STREAM_EVENTS, type Scenario } from "./scenarios.ts";

interface Chunk {
  readonly model: string;
  readonly choices: readonly { readonly delta?: { readonly content?: string | null } }[];
}

/** The model named by a reply (bytes as they came). Throws, with the beginning of the reply, when it is not the whole right one. */
export function inspectReply(wire: string, scenario: Scenario): string {
  const headersEnd = wire.indexOf("\r\n\r\n");
  const head = wire.slice(0, headersEnd);
  const raw = wire.slice(headersEnd + 4);
  const body = /\r\ntransfer-encoding: *chunked/i.test(head) ? unchunk(Buffer.from(raw)) : raw;
  try {
    if (!head.startsWith("HTTP/1.1 200")) throw new Error("The status is not 200.");
    return scenario.stream ? inspectStream(body) : inspectWhole(body);
  } catch (error) {
    throw new Error(`A wrong reply: ${String(error)} It began: ${wire.slice(0, 600)}`, { cause: error });
  }
}

function inspectWhole(body: string): string {
  const reply = JSON.parse(body) as {
    readonly model: string;
    readonly usage: unknown;
    readonly choices: readonly { readonly message: { readonly content: string } }[];
  };
  if (!reply.choices[0]?.message.content.startsWith("The Rhine") || !reply.usage) throw new Error("Content or usage is missing.");
  return reply.model;
}

function inspectStream(body: string): string {
  const data = body
    .split("\n\n")
    .filter(Boolean)
    .map((event) => event.replace(/^data: /, ""));
  if (data.pop() !== "[DONE]") throw new Error("The end mark is missing.");
  const chunks = data.map((text) => JSON.parse(text) as Chunk);
  const words = chunks.filter((chunk) => chunk.choices[0]?.delta?.content).length;
  if (words !== STREAM_EVENTS) throw new Error(`${words} content events instead of ${STREAM_EVENTS}.`);
  return chunks[0]?.model ?? "";
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
