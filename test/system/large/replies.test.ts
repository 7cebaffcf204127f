/**
 * Whole replies that are handled in turns of the event loop: every client gets the bytes that it
 * gets of a small reply, and the whole text.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  fourProviders,
  LANE,
  openCompletions,
  PROVIDER_ENVIRONMENT,
  PROVIDERS,
  withResponsesLane,
} from "../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createWorkspace } from "../support/workspace.ts";

const MARK = "zqmarkzq";

/** Inside of JSON strings, as an upstream writes them: longer than a part that is read at once. */
const TEXTS: Readonly<Record<string, string>> = {
  plain: "word ".repeat(130_000),
  "with escapes": 'said \\"no\\"\\n\\tat C:\\\\ '.repeat(20_000),
  "plain, then with escapes": `${"word ".repeat(250_000)}\\n\\u0041\\/${"word ".repeat(30_000)}`,
  "of every width": "a\u00e9\u6f22\u{1f600} ".repeat(40_000),
  "with escaped characters": "\\u00e9\\ud83d\\ude00 ".repeat(12_000),
};

/** The body of each upstream around a text, in an odd form. */
const UPSTREAMS: readonly (readonly [url: RegExp, body: (text: string) => string])[] = [
  [
    /generateContent/,
    (text) =>
      `{ "candidates": [{"content":{"role":"model","parts":[{"text":"${text}"}]},"finishReason":"STOP"}], "usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3}, "modelVersion" : "gemini-of-upstream", "n\u00e9w": 1.0}`,
  ],
  [
    /\/converse/,
    (text) =>
      `{"output":{"message":{"role":"assistant","content":[{"text":"${text}"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}`,
  ],
  [
    /\/responses$/,
    (text) =>
      `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model": "gpt-of-upstream","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"${text}"}]}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3},"n\u00e9w": 1.0}`,
  ],
  [
    /\/messages$/,
    (text) =>
      `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"${text}"}],"model" : "claude-of-upstream","stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2},"n\u00e9w": 1.0}`,
  ],
  [
    /./,
    (text) =>
      `{ "id":"c-1","object":"chat.completion","created":1,"n\u00e9w": 1.0,"choices":[{"index":0,"message":{"role":"assistant","content":"${text}"},"finish_reason":"stop"}],"model" : "gpt-of-upstream","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
  ],
];

const messages = [{ role: "user", content: "Say something, please." }];
const FACES: Readonly<Record<string, (model: string) => readonly [path: string, body: object]>> = {
  chat: (model) => ["/v1/chat/completions", { model, messages }],
  completions: (model) => ["/v1/completions", { model, prompt: "Say something, please." }],
  messages: (model) => ["/v1/messages", { model, max_tokens: 9, messages }],
  responses: (model) => ["/v1/responses", { model, store: false, input: messages }],
  gemini: (model) => [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: "user", parts: [{ text: "Say something, please." }] }] },
  ],
};
const MODELS = [...PROVIDERS, LANE];

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = createWorkspace(withResponsesLane(upstream.url, fourProviders(upstream.url)));
  openCompletions(workspace);
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

function ask(face: string, model: string): Promise<Response> {
  const [path, body] = FACES[face]?.(model) ?? ["", {}];
  return fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Answers with a text in every dialect; with its length in the head, or in chunks. */
function say(text: string, hasLength: boolean): void {
  upstream.answer((response, { url }) => {
    const [, bodyOf] = UPSTREAMS.find(([pattern]) => pattern.test(url)) ?? [];
    const body = Buffer.from(bodyOf?.(text) ?? "");
    response.writeHead(200, {
      "content-type": "application/json",
      ...(hasLength ? { "content-length": body.length } : {}),
    });
    response.end(body);
  });
}

/** A body without what is new in each reply, and with the mark in place of the text. */
function shapeOf(body: string, text: string): string {
  const written = JSON.stringify(JSON.parse(`"${text}"`)).slice(1, -1);
  return body
    .replaceAll(text, MARK)
    .replaceAll(written, MARK)
    .replace(/"(id|responseId|created|created_at|completed_at)":("[^"]*"|\d+)/g, '"$1":0');
}

describe.each(Object.keys(TEXTS))("a large reply, its text %s,", (kind) => {
  const text = TEXTS[kind] ?? "";

  it.each(Object.keys(FACES))("is that of a small one for %s", async (face) => {
    for (const [index, model] of MODELS.entries()) {
      say(MARK, true);
      const small = await ask(face, model);
      const shape = shapeOf(await small.text(), MARK);
      expect([model, small.status, shape.includes(MARK)]).toEqual([model, 200, true]);
      say(text, index % 2 === 0);
      const large = await ask(face, model);
      const bytes = Buffer.from(await large.arrayBuffer());
      expect([model, shapeOf(bytes.toString(), text) === shape]).toEqual([model, true]);
      expect(Number(large.headers.get("content-length"))).toBe(bytes.length);
    }
  });
});

describe("a large reply that is no JSON", () => {
  it.each([
    ["a line feed in a string", `${"word ".repeat(130_000)}\n`],
    ["a line feed behind escapes", `${'\\"'.repeat(100_000)}\n`],
    ["an unknown escape", `${"word ".repeat(130_000)}\\x`],
    ["an early end", `${"word ".repeat(130_000)}"`],
  ])("for %s is refused, and the client gets none of it", async (_fault, text) => {
    say(text, false);
    for (const model of MODELS) {
      const response = await ask("chat", model);
      const body = await response.text();
      expect([model, response.status, body.length < 2_000]).toEqual([model, 502, true]);
      expect(body).toContain("not JSON");
    }
  });
});
