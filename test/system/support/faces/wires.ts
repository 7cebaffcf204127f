/**
 * The forms that clients speak, without their SDKs: what each sends, and how its replies, streams
 * and errors are read. The reference dialect is one of them: what holds for it holds for the
 * others.
 */

/** The reference dialect, then the faces. */
export const WIRES = ["chat", "messages", "responses", "gemini", "completions"] as const;
export type WireName = (typeof WIRES)[number];

/** The faces without the reference dialect. */
export const FACE_WIRES = ["messages", "responses", "gemini", "completions"] as const;

/** A question, in every form. */
export interface WireQuestion {
  readonly model: string;
  readonly prompt?: string;
  readonly stream?: boolean;
  readonly maxTokens?: number;
  /** Further members of the body. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The end of a stream: `whole` by the form's own mark, `failed` by its error, `cut` by neither. */
export type WireEnd = "whole" | "failed" | "cut";

/** What a client of the form reads of a reply. */
export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came. */
  readonly raw: string;
  readonly text: string;
  readonly end: WireEnd;
  /** Type, code or status by which clients of the form decide, and the message. */
  readonly error?: WireError;
  /** Tokens of prompt and reply, of a whole reply or of the last event that has them. */
  readonly usage?: readonly [number, number];
}

/** An error of the form. */
export interface WireError {
  readonly kind: string;
  readonly message: string;
}

type Json = Record<string, unknown>;

interface Wire {
  /** Path and body of a request. */
  request(question: Required<Omit<WireQuestion, "more">>): readonly [path: string, body: Json];
  /** The text of a whole reply, or of one event of a stream. */
  text(value: Json): string;
  usage(value: Json): readonly [unknown, unknown];
  /** Whether this event, or `[DONE]`, ends a whole stream. */
  isEnd(value: Json | "[DONE]"): boolean;
  error(value: Json): WireError | undefined;
}

const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((held, name) => (held as Json | null | undefined)?.[name], value);
const textAt = (value: unknown, ...path: readonly (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};
const errorAt = (value: unknown, kind: string): WireError | undefined =>
  value === undefined || value === null
    ? undefined
    : { kind: textAt(value, kind), message: textAt(value, "message") };
const listAt = (value: unknown, ...path: readonly (string | number)[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};
const textsOf = (parts: readonly unknown[]): string =>
  parts.map((part) => (at(part, "thought") === true ? "" : textAt(part, "text"))).join("");

const TABLE: Readonly<Record<WireName, Wire>> = {
  chat: {
    request: ({ model, prompt, stream, maxTokens }) => [
      "/v1/chat/completions",
      {
        model,
        max_completion_tokens: maxTokens,
        messages: [{ role: "user", content: prompt }],
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      },
    ],
    text: (value) =>
      textAt(value, "choices", 0, "message", "content") +
      textAt(value, "choices", 0, "delta", "content"),
    usage: (value) => [
      at(value, "usage", "prompt_tokens"),
      at(value, "usage", "completion_tokens"),
    ],
    isEnd: (value) => value === "[DONE]",
    error: (value) => errorAt(value["error"], "type"),
  },
  messages: {
    request: ({ model, prompt, stream, maxTokens }) => [
      "/v1/messages?beta=true",
      { model, max_tokens: maxTokens, messages: [{ role: "user", content: prompt }], stream },
    ],
    text: (value) => textsOf(listAt(value, "content")) + textAt(value, "delta", "text"),
    usage: (value) => {
      const used = at(value, "usage") ?? at(value, "message", "usage");
      return [at(used, "input_tokens"), at(used, "output_tokens")];
    },
    isEnd: (value) => value !== "[DONE]" && value["type"] === "message_stop",
    error: (value) => errorAt(value["error"], "type"),
  },
  responses: {
    request: ({ model, prompt, stream, maxTokens }) => [
      "/v1/responses",
      { model, max_output_tokens: maxTokens, store: false, input: prompt, stream },
    ],
    text: (value) =>
      value["type"] === "response.output_text.delta"
        ? textAt(value, "delta")
        : listAt(value, "output")
            .map((item) => (at(item, "type") === "message" ? textsOf(listAt(item, "content")) : ""))
            .join(""),
    usage: (value) => {
      const used = at(value, "usage") ?? at(value, "response", "usage");
      return [at(used, "input_tokens"), at(used, "output_tokens")];
    },
    isEnd: (value) =>
      value !== "[DONE]" &&
      (value["type"] === "response.completed" || value["type"] === "response.incomplete"),
    error: (value) => errorAt(at(value, "response", "error") ?? value["error"], "code"),
  },
  gemini: {
    request: ({ model, prompt, stream, maxTokens }) => [
      `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      {
        contents: [{ role: "user", parts: [{ text: prompt }] }],
        generationConfig: { maxOutputTokens: maxTokens },
      },
    ],
    text: (value) => textsOf(listAt(value, "candidates", 0, "content", "parts")),
    usage: (value) => [
      at(value, "usageMetadata", "promptTokenCount"),
      at(value, "usageMetadata", "candidatesTokenCount"),
    ],
    isEnd: (value) => at(value, "candidates", 0, "finishReason") !== undefined,
    error: (value) => errorAt(value["error"], "status"),
  },
  completions: {
    request: ({ model, prompt, stream, maxTokens }) => [
      "/v1/completions",
      {
        model,
        prompt,
        max_tokens: maxTokens,
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      },
    ],
    text: (value) => textAt(value, "choices", 0, "text"),
    usage: (value) => [
      at(value, "usage", "prompt_tokens"),
      at(value, "usage", "completion_tokens"),
    ],
    isEnd: (value) => value === "[DONE]",
    error: (value) => errorAt(value["error"], "type"),
  },
};

/** Further parts of a call: another key, headers, a path before the form's own, a signal. */
export interface WireInit {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly prefix?: string;
  readonly signal?: AbortSignal;
}

/** A gateway, as far as a client knows it. */
export interface WirePlace {
  readonly publicUrl: string;
  readonly masterKey: string;
}

/** Sends a question in a form. Resolves with the head of the reply. */
export function sendWire(
  { publicUrl, masterKey }: WirePlace,
  name: WireName,
  question: WireQuestion,
  { key = masterKey, headers = {}, prefix = "", signal }: WireInit = {},
): Promise<Response> {
  const { more, ...asked } = question;
  const defaults = { prompt: "Say something, please.", stream: false, maxTokens: 400 };
  const [path, body] = TABLE[name].request({ ...defaults, ...asked });
  return fetch(publicUrl + prefix + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...body, ...more }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Sends a question in a form, and reads the reply to its end. */
export async function askWire(
  place: WirePlace,
  name: WireName,
  question: WireQuestion,
  init: WireInit = {},
): Promise<WireReply> {
  const response = await sendWire(place, name, question, init);
  return readWire(name, response, await response.text());
}

/** Reads a reply in a form. */
export function readWire(
  name: WireName,
  { status, headers }: Pick<Response, "status" | "headers">,
  raw: string,
): WireReply {
  const wire = TABLE[name];
  const values = isStream(headers) ? eventsOf(raw) : [JSON.parse(raw) as Json];
  const objects = values.filter((value) => value !== "[DONE]");
  const error = objects.map((value) => wire.error(value)).find((found) => found !== undefined);
  const isWhole = !isStream(headers) || values.some((value) => wire.isEnd(value));
  const usages = objects.map((value) => wire.usage(value));
  const usage = [0, 1].map((index) =>
    usages.map((pair) => pair[index]).findLast((count) => typeof count === "number"),
  );
  const rest = {
    ...(error === undefined ? {} : { error }),
    ...(usage.includes(undefined) ? {} : { usage: usage as unknown as readonly [number, number] }),
  };
  const end = error !== undefined ? "failed" : isWhole ? "whole" : "cut";
  const text = objects.map((value) => wire.text(value)).join("");
  return { status, headers, raw, text, end, ...rest };
}

const isStream = (headers: Headers): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/** The data of a stream's events. An event without `data:` is JSON by itself: Gemini's failures. */
export function eventsOf(raw: string): readonly (Json | "[DONE]")[] {
  return raw
    .split(/\r?\n\r?\n/)
    .map((event) => {
      const lines = event.split(/\r?\n/).filter((line) => !/^(?::|event:|$)/.test(line));
      return lines.map((line) => line.replace(/^data: ?/, "")).join("\n");
    })
    .filter((data) => data !== "")
    .map((data) => (data === "[DONE]" ? data : (JSON.parse(data) as Json)));
}

/**
 * A reply without what two replies to the same question differ in: ids made of the request's,
 * times, padding.
 */
export function steadyText(raw: string): string {
  return raw
    .replaceAll(/[0-9a-f]{8}-?[0-9a-f]{4}-?7[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}/g, "ID")
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replaceAll(/,?"obfuscation":"[^"]*"/g, "");
}
