/**
 * Replies of native lanes on routes whose guardrails judge replies alone: the client gets what was
 * judged, and nothing else of the upstream's document.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const WORD = "zqforbiddenzq";
let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = guardedWorkspace({
    ...fourProviders(upstream.url),
    provider: "responses: true",
    guardrails: [`masking: { use: forbid, word: ${WORD}, action: mask }`],
    step: "{ output: [masking] }",
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const FINE = { type: "text", text: "Fine." };
const message = (content: readonly object[], more: object = {}): object => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5",
  content,
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
  ...more,
});
const candidate = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
  modelVersion: "gemini-2.5-flash",
  ...more,
});

async function ask(path: string, body: object) {
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, said: await response.text() };
}

const askMessages = (more: object = {}) =>
  ask("/v1/messages", {
    model: "anthropic",
    max_tokens: 100,
    messages: [{ role: "user", content: "Hi." }],
    ...more,
  });
const askGemini = () =>
  ask("/v1beta/models/gemini:generateContent", {
    contents: [{ role: "user", parts: [{ text: "Hi." }] }],
  });

const response = (output: readonly object[], more: object = {}): string =>
  JSON.stringify({
    id: "resp_0123456789",
    object: "response",
    status: "completed",
    output,
    ...more,
  });
const said = (part: object, more: object = {}): object => ({
  id: "msg_0123456789",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Fine.", annotations: [], ...part }],
  ...more,
});
const search = (more: object): object => ({
  id: "ws_0123456789",
  type: "web_search_call",
  status: "completed",
  ...more,
});
const FINE_ITEM = said({});

/** Replies of responses with a word where no chat completion has a place, and where it has one. */
const RESPONSES: Readonly<Record<string, string>> = {
  "a member of a part": response([said({ of_next_year: WORD })]),
  "a member of an item": response([said({}, { of_next_year: WORD })]),
  "a member of a response": response([FINE_ITEM], { instructions: WORD }),
  "an item of next year": response([FINE_ITEM, { type: "of_next_year", text: WORD }]),
  "a search": response([search({ action: { query: WORD } }), FINE_ITEM]),
  "a summary": response([
    { id: "rs_0123456789", type: "reasoning", summary: [{ type: "summary_text", text: WORD }] },
    FINE_ITEM,
  ]),
  "an annotation": response([
    said({
      annotations: [{ type: "url_citation", url: `https://x.example/${WORD}`, title: WORD }],
    }),
  ]),
  "arguments of a call": response([
    FINE_ITEM,
    {
      id: "fc_0123456789",
      type: "function_call",
      call_id: "call_1",
      name: "f",
      arguments: JSON.stringify({ a: WORD }),
    },
  ]),
  "the input of a custom tool": response([
    FINE_ITEM,
    { id: "ctc_0123456789", type: "custom_tool_call", call_id: "call_1", name: "f", input: WORD },
  ]),
  "a call of a typed tool": response([
    FINE_ITEM,
    {
      id: "sh_0123456789",
      type: "shell_call",
      call_id: "call_1",
      status: "completed",
      action: { commands: [WORD] },
    },
  ]),
};

/** The same as a stream whose deltas hold the word in two pieces. */
function streamOf(body: string): string {
  const whole = JSON.parse(body) as { readonly output: readonly Record<string, unknown>[] };
  const events: object[] = [{ type: "response.created", response: { ...whole, output: [] } }];
  for (const [index, item] of whole.output.entries()) {
    const at = { item_id: item.id, output_index: index };
    events.push({ type: "response.output_item.added", output_index: index, item });
    const summary = JSON.stringify(item.summary ?? "").includes(WORD) ? WORD : "";
    const given = String(item.arguments ?? item.input ?? "");
    const kind =
      item.arguments === undefined ? "custom_tool_call_input" : "function_call_arguments";
    const text = item.type === "message" ? "Fine." : "";
    for (const [type, delta] of [
      ["reasoning_summary_text", summary],
      ["output_text", text],
      [kind, given],
    ] as const) {
      const half = delta.indexOf(WORD) + 4;
      for (const piece of delta === "" ? [] : [delta.slice(0, half), delta.slice(half)])
        events.push({ type: `response.${type}.delta`, ...at, delta: piece });
    }
    events.push({ type: "response.output_item.done", output_index: index, item });
  }
  events.push({ type: "response.completed", response: whole });
  return events
    .map((each, number) => JSON.stringify({ ...each, sequence_number: number }))
    .map((data) => `data: ${data}\n\n`)
    .join("");
}

const askResponses = (more: object = {}) =>
  ask("/v1/responses", { model: "openai", input: "Hi.", ...more });

const MESSAGES: Readonly<Record<string, string>> = {
  "a member of a text": JSON.stringify(message([{ ...FINE, of_next_year: WORD }])),
  "a member of a message": JSON.stringify(message([FINE], { stop_details: { explanation: WORD } })),
  "a block without a type": JSON.stringify(message([FINE, { text: WORD }])),
  "a text in a list": JSON.stringify(message([FINE, { type: "text", text: [WORD] }])),
  "a call without an id": JSON.stringify(
    message([FINE, { type: "tool_use", name: "f", input: { a: WORD } }]),
  ),
  "the first of two members": JSON.stringify(message([FINE])).replace(
    '"content":',
    `"content":[{"type":"text","text":"${WORD}"}],"content":`,
  ),
};

describe("a whole reply of a lane", () => {
  it.each(Object.entries(MESSAGES))("of messages has nothing unjudged: %s", async (_what, body) => {
    upstream.reply(200, "application/json", body);
    const { status, said } = await askMessages();
    expect([status, said]).toEqual([200, expect.stringContaining('"text":"Fine."')]);
    expect(said).not.toContain(WORD);
  });

  it.each<[string, object]>([
    ["a member of a part", candidate([{ text: "Fine.", of_next_year: WORD }])],
    ["a member of the reply", candidate([{ text: "Fine." }], { of_next_year: WORD })],
  ])("of Gemini has nothing unjudged: %s", async (_what, body) => {
    upstream.reply(200, "application/json", JSON.stringify(body));
    const { status, said } = await askGemini();
    expect([status, said]).toEqual([200, expect.stringContaining('"text":"Fine."')]);
    expect(said).not.toContain(WORD);
  });

  it.each(Object.entries(RESPONSES))(
    "of responses has nothing unjudged: %s",
    async (_what, body) => {
      upstream.reply(200, "application/json", body);
      const whole = await askResponses();
      expect([whole.status, whole.said]).toEqual([200, expect.stringContaining('"text":"Fine."')]);
      expect(whole.said).not.toContain(WORD);
      expect(upstream.requests.at(-1)?.url).toBe("/v1/responses");
      upstream.reply(200, "text/event-stream", streamOf(body));
      const streamed = await askResponses({ stream: true });
      expect(streamed.said).toContain('"text":"Fine."');
      expect(streamed.said).not.toContain(WORD);
    },
  );

  it("has nothing unjudged from the cache", async () => {
    upstream.reply(200, "application/json", MESSAGES["a member of a text"]!);
    const cached = { cache: { "use-cache": true } };
    await askMessages(cached);
    const { said } = await askMessages(cached);
    expect(said).toContain('"text":"Fine."');
    expect(said).not.toContain(WORD);
  });
});
