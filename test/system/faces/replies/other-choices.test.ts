/** Upstreams that send more choices than they were asked for: the first one is the reply. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, FACES } from "../../support/faces/face-clients.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../../support/native-upstream.ts";
import { createWorkspace } from "../../support/workspace.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const place = () => ({ publicUrl: gateway.publicUrl, key: gateway.masterKey });

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(createWorkspace(fourProviders(upstream.url)), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const OTHERS = FACES.filter((face) => face !== "gemini");

it.each(OTHERS)("a stream of Gemini with two candidates: %s", async (face) => {
  const event = (index: number, text: string, more: object = {}): string =>
    `data: ${JSON.stringify({
      candidates: [{ content: { role: "model", parts: [{ text }] }, index, ...more }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    })}\r\n\r\n`;
  upstream.reply(
    200,
    "text/event-stream",
    event(0, "A") +
      event(1, "X") +
      event(0, "B") +
      event(1, "Y", { finishReason: "MAX_TOKENS" }) +
      event(0, "C", { finishReason: "STOP" }),
  );
  const { text } = await ask(face, place(), { model: "gemini", prompt: "x", stream: true });
  expect(text).toBe("ABC");
});

it.each(OTHERS)("a whole reply of OpenAI: %s", async (face) => {
  const choice = (index: number, content: string, finish_reason: string): object => ({
    index,
    message: { role: "assistant", content },
    finish_reason,
  });
  upstream.reply(
    200,
    "application/json",
    JSON.stringify({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [choice(1, "X", "length"), choice(0, "A", "stop")],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  );
  const { text } = await ask(face, place(), { model: "openai", prompt: "x" });
  expect(text).toBe("A");
});
