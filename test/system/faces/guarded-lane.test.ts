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

  it("has nothing unjudged from the cache", async () => {
    upstream.reply(200, "application/json", MESSAGES["a member of a text"]!);
    const cached = { cache: { "use-cache": true } };
    await askMessages(cached);
    const { said } = await askMessages(cached);
    expect(said).toContain('"text":"Fine."');
    expect(said).not.toContain(WORD);
  });
});
