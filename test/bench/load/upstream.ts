/**
 * The upstream of the benchmark, in its own process: raw TCP and prebuilt bytes, as cheap as it can
 * be, because it shares a core with the load. `node upstream.ts --port 0 --model
 * gpt-4o-mini-2024-07-18` prints one JSON line.
 */

import { createServer, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { geminiStream } from "./upstream-gemini.ts";
import { messagesStream } from "./upstream-messages.ts";
import { responsesStream } from "./upstream-responses.ts";
import {
  BURST_CHUNKS,
  BURST_USER,
  EMBEDDINGS_DIMENSIONS,
  EMBEDDINGS_INPUTS,
  IMAGE_BYTES,
  PACED_USER,
  PACE_MS,
  SNAPSHOT_MODEL,
  STREAM_EVENTS,
} from "../scenarios.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    model: { type: "string", default: SNAPSHOT_MODEL },
  },
});

const HEADERS_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const STREAM_HEADERS = Buffer.from(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n" +
    "x-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n",
);

const COMPLETION_ID = "chatcmpl-Bench0000000000000000000001";
const envelope = (object: string) => ({
  id: COMPLETION_ID,
  object,
  created: 1_741_569_952,
  model: values.model,
  service_tier: "default",
  system_fingerprint: "fp_44709d6fcb",
});
const usage = (completion: number) => ({
  prompt_tokens: 33,
  completion_tokens: completion,
  total_tokens: 33 + completion,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
});

const whole = wholeReply();
const wholeIdEnd = whole.indexOf(COMPLETION_ID) + COMPLETION_ID.length;
let lastId = 1;
const embeddings = embeddingsReply();
const image = imageReply();
const plainStream = streamReply(false);
const usageStream = streamReply(true);
const plainBurst = inBurst(plainStream);
const usageBurst = inBurst(usageStream);
const messagesBurst = inBurst(messagesStream().map(asChunk));
const responsesBurst = inBurst(responsesStream().map(asChunk));
const geminiBurst = inBurst(geminiStream().map(asChunk));

const server = createServer({ noDelay: true }, serve);
server.listen(Number(values.port), "127.0.0.1", () =>
  console.log(JSON.stringify(server.address())),
);

/** Reads requests off one connection, one at a time. */
function serve(socket: Socket): void {
  let pending: Buffer | undefined;
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    const bytes = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
    pending = undefined;
    const headersEnd = bytes.indexOf(HEADERS_END);
    if (headersEnd < 0) pending = bytes;
    else {
      const length = /\r\ncontent-length: *(\d+)/i.exec(
        bytes.toString("latin1", 0, headersEnd),
      )?.[1];
      const end = headersEnd + HEADERS_END.length + Number(length ?? 0);
      if (bytes.length < end) pending = bytes;
      else
        answer(
          socket,
          bytes.toString("latin1", 0, headersEnd),
          bytes.toString("latin1", headersEnd, end),
        );
    }
  });
}

function answer(socket: Socket, head: string, body: string): void {
  if (head.startsWith("POST /v1/embeddings")) socket.write(embeddings);
  else if (head.startsWith("POST /v1/images/")) socket.write(image);
  else if (head.startsWith("POST /v1/messages")) pour(socket, messagesBurst, false);
  else if (head.startsWith("POST /v1/responses")) pour(socket, responsesBurst, false);
  else if (head.startsWith("POST /v1beta/")) pour(socket, geminiBurst, false);
  else if (!/"stream": ?true/.test(body)) socket.write(withNextId());
  else if (body.includes(BURST_USER))
    pour(socket, /"include_usage": ?true/.test(body) ? usageBurst : plainBurst, false);
  else
    pour(
      socket,
      /"include_usage": ?true/.test(body) ? usageStream : plainStream,
      body.includes(PACED_USER),
    );
}

/**
 * Each event its own write and its own TCP segment: one a turn of the event loop, or one every
 * `PACE_MS`.
 */
function pour(socket: Socket, events: readonly Buffer[], isPaced: boolean): void {
  let next = 0;
  const step = () => {
    const event = events[next];
    if (event === undefined || socket.destroyed) return;
    next += 1;
    socket.write(event);
    if (isPaced) setTimeout(step, PACE_MS);
    else setImmediate(step);
  };
  socket.write(STREAM_HEADERS);
  setImmediate(step);
}

/** The whole reply with an id of its own, which is far from the one before, as random ids are. */
function withNextId(): Buffer {
  const reply = Buffer.from(whole);
  lastId = Math.imul(lastId, 1_664_525) + 1_013_904_223;
  const digits = (lastId >>> 0).toString(16).padStart(8, "0");
  reply.write(digits, wholeIdEnd - digits.length, "latin1");
  return reply;
}

/** A whole reply, 0.6 KB of JSON. */
function wholeReply(): Buffer {
  const content =
    "The Rhine ends in the North Sea near Hoek van Holland, after six countries: ".padEnd(
      150,
      "it is so. ",
    );
  const body = JSON.stringify({
    ...envelope("chat.completion"),
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: usage(30),
  });
  return jsonReply(body);
}

/** Vectors of float32 values, as the reference API prints them: 3 MB. */
function embeddingsReply(): Buffer {
  const vector = Array.from({ length: EMBEDDINGS_DIMENSIONS }, (_, at) =>
    Math.fround(Math.sin(at + 1) / 20),
  );
  const data = Array.from({ length: EMBEDDINGS_INPUTS }, (_, index) => ({
    object: "embedding",
    index,
    embedding: vector,
  }));
  return jsonReply(
    JSON.stringify({
      object: "list",
      data,
      model: values.model,
      usage: { prompt_tokens: 600, total_tokens: 600 },
    }),
  );
}

/** One image in base64: 5 MB. */
function imageReply(): Buffer {
  const image = Buffer.alloc(IMAGE_BYTES, "The Rhine ends in the North Sea. ");
  return jsonReply(
    JSON.stringify({ created: 1_741_569_952, data: [{ b64_json: image.toString("base64") }] }),
  );
}

function jsonReply(body: string): Buffer {
  const length = Buffer.byteLength(body);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: ${length}\r\n\r\n${body}`,
  );
}

/** The events of a stream as HTTP chunks; the last holds the end mark and the end of the body. */
function streamReply(withUsage: boolean): Buffer[] {
  const event = (choices: readonly unknown[], counted: unknown = null) =>
    chunk(
      JSON.stringify({
        ...envelope("chat.completion.chunk"),
        choices,
        ...(withUsage && { usage: counted }),
      }),
    );
  const choice = (delta: unknown, finish: string | null = null) =>
    event([{ index: 0, delta, logprobs: null, finish_reason: finish }]);
  const contents = Array.from({ length: STREAM_EVENTS }, (_, index) =>
    choice({ content: ` word${index}` }),
  );
  return [
    choice({ role: "assistant", content: "", refusal: null }),
    ...contents,
    choice({}, "stop"),
    ...(withUsage ? [event([], usage(STREAM_EVENTS))] : []),
    Buffer.concat([chunk("[DONE]"), LAST_CHUNK]),
  ];
}

function chunk(data: string): Buffer {
  return asChunk(`data: ${data}\n\n`);
}

function asChunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

/** The events of HTTP chunks, joined in few chunks of about equal numbers of events. */
function inBurst(chunks: readonly Buffer[]): Buffer[] {
  const texts = chunks.map((bytes) =>
    bytes
      .toString("latin1")
      .replace(/^[0-9a-f]+\r\n/, "")
      .replace(/\r\n(?:0\r\n\r\n)?$/, ""),
  );
  const size = Math.ceil(texts.length / BURST_CHUNKS);
  const joined = Array.from({ length: BURST_CHUNKS }, (_, at) =>
    asChunk(texts.slice(at * size, (at + 1) * size).join("")),
  );
  return [...joined.slice(0, -1), Buffer.concat([joined.at(-1)!, LAST_CHUNK])];
}
