/** A streamed call of Anthropic's API whose input stands whole at the beginning of its block. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { ask } from "../../support/faces/face-clients.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../../support/native-upstream.ts";
import { createWorkspace } from "../../support/workspace.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(createWorkspace(fourProviders(upstream.url)), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const event = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

it.each(["messages", "responses", "gemini"] as const)("reaches the client: %s", async (face) => {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
  const use = { type: "tool_use", id: "t1", name: "weather", input: { city: "Paris" } };
  upstream.reply(
    200,
    "text/event-stream",
    [
      event("message_start", {
        message: { ...message, usage: { input_tokens: 3, output_tokens: 1 } },
      }),
      event("content_block_start", { index: 0, content_block: use }),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } }),
      event("message_stop", {}),
    ].join(""),
  );
  const place = { publicUrl: gateway.publicUrl, key: gateway.masterKey };
  const question = { model: "anthropic", prompt: "x", stream: true, hasTool: true };
  const { calls } = await ask(face, place, question);
  expect(calls).toEqual([{ name: "weather", input: { city: "Paris" } }]);
});
