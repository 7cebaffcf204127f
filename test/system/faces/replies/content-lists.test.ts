/**
 * Replies of an upstream whose content is a list of blocks, on every face: each text, thought and
 * picture arrives, whole, in one event, and in many events of one form.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, FACES } from "../../support/faces/face-clients.ts";
import { openCompletions } from "../../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../../support/native-upstream.ts";
import { createWorkspace } from "../../support/workspace.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const place = () => ({ publicUrl: gateway.publicUrl, key: gateway.masterKey });

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = createWorkspace({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    models: ["{ id: m, targets: [{ provider: openai, model: m }] }"],
  });
  openCompletions(workspace);
  gateway = await startGateway(workspace, {});
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const text = (said: string): object => ({ type: "text", text: said });
const thinking = (said: string): object => ({ type: "thinking", thinking: [text(said)] });
const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const TEXT = "One, two, three.";
const THOUGHT = "First, a thought.";
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

const piecesOf = (said: string): string[] => said.match(/.{1,2}/gs) ?? [];
const chunk = (choices: readonly object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
const stream = (deltas: readonly object[]): string =>
  [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
    chunk([], { usage: USAGE }),
    "data: [DONE]\n\n",
  ].join("");

/** The same reply as its upstream may send it. */
const REPLIES = {
  whole: JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: [thinking(THOUGHT), text(TEXT), IMAGE] },
        finish_reason: "stop",
      },
    ],
    usage: USAGE,
  }),
  "one event": stream([{ role: "assistant", content: [thinking(THOUGHT), text(TEXT), IMAGE] }]),
  "many events": stream([
    ...piecesOf(THOUGHT).map((each) => ({ content: [thinking(each)] })),
    ...piecesOf(TEXT).map((each) => ({ content: [text(each)] })),
    { content: [IMAGE] },
  ]),
} as const;

describe.each(Object.entries(REPLIES))("a content in a list: %s", (how, reply) => {
  it.each(FACES)("reaches the client: %s", async (face) => {
    const isStream = how !== "whole";
    upstream.reply(200, isStream ? "text/event-stream" : "application/json", reply);
    const more = {
      messages: { thinking: { type: "adaptive" } },
      responses: { reasoning: { effort: "low", summary: "auto" } },
      gemini: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
    }[face];
    const got = await ask(face, place(), { model: "m", prompt: "x", stream: isStream, more });
    expect([got.thought, got.text]).toEqual([THOUGHT, TEXT]);
    expect(got.raw.includes("AAAA")).toBe(face !== "messages");
  });

  it("reaches a client of the legacy completions", async () => {
    const isStream = how !== "whole";
    upstream.reply(200, isStream ? "text/event-stream" : "application/json", reply);
    const response = await fetch(`${gateway.publicUrl}/v1/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", prompt: "x", stream: isStream }),
    });
    const said = [...(await response.text()).matchAll(/"text":"([^"]*)"/g)];
    expect(said.map(([, each]) => each).join("")).toBe(TEXT);
  });
});
