/**
 * The face acme. Its form is an example:
 * `{ model, say, stream }` in, `{ text, tokens }` out. Replace it by the form of your clients. A
 * face is pure: no socket, no clock, no state between requests.
 */

import { defineFace, isObject } from "@sluice/kit";
import {
  type FaceStream,
  GatewayError,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";

/** What writing the reply needs of the request. This form needs nothing. */
type State = Readonly<Record<string, never>>;

export default defineFace<Record<string, never>>({
  name: "acme",
  stability: "experimental",
  summary: "A form with one text in and one text out.",
  // The usual routes. A pipeline that names this face in its `routes` serves them.
  paths: ["POST /v1/acme"],
  config: { type: "object", properties: {} },
  create() {
    return {
      dialect: "acme",
      // Written in silence, so that proxies keep the connection open. Clients pass over it.
      heartbeat: ": ping\n\n",
      read: ({ value }: JsonDocument) => ({ body: requestOf(value), state: {} as State }),
      whole: replyOf,
      stream: streamOf,
      error: (error) => ({ status: error.status, body: errorOf(error) }),
    };
  },
});

/** The request in the reference dialect. A field that it cannot say is refused by its name. */
function requestOf({ model, say, stream = false, ...others }: JsonObject): JsonObject {
  if (typeof model !== "string") throw wrong("model", "a string");
  if (typeof say !== "string") throw wrong("say", "a string");
  if (typeof stream !== "boolean") throw wrong("stream", "a boolean");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong(unknown, "absent: there is no such field");
  const options = stream ? { stream_options: { include_usage: true } } : {};
  return { model, messages: [{ role: "user", content: say }], stream, ...options };
}

function wrong(param: string, expected: string): GatewayError {
  return new GatewayError("invalid_field", `The field ${param} must be ${expected}.`, { param });
}

/** A whole reply, made of a `chat.completion`. */
function replyOf({ choices, usage }: JsonObject): JsonObject {
  return { text: textAt(choices, "message"), tokens: tokensOf(usage) };
}

/** A stream: one event for each text, and one at the end. */
function streamOf(): FaceStream {
  let tokens: JsonValue = null;
  return {
    chunk({ choices, usage }) {
      if (isObject(usage)) tokens = tokensOf(usage);
      const text = textAt(choices, "delta");
      return text === "" ? "" : event({ text });
    },
    end: () => event({ done: true, tokens }),
    failure: (error) => event(errorOf(error)),
  };
}

function textAt(choices: JsonValue | undefined, member: "message" | "delta"): string {
  const [choice] = Array.isArray(choices) ? (choices as readonly JsonValue[]) : [];
  const part = isObject(choice) ? choice[member] : undefined;
  return isObject(part) && typeof part.content === "string" ? part.content : "";
}

function tokensOf(usage: JsonValue | undefined): JsonValue {
  return isObject(usage) ? (usage.total_tokens ?? null) : null;
}

function errorOf({ code, message, param }: GatewayError): JsonObject {
  return { error: { code, message, field: param ?? null } };
}

function event(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
