/**
 * Conversations that Anthropic keeps (beta `message-threads`), which the SDK's runner of tools asks
 * for by default: no model has them, and the SDK goes on with whole conversations by itself.
 */

import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../../support/client.ts";
import {
  fourProviders,
  PROVIDER_ENVIRONMENT,
  PROVIDERS,
} from "../../support/faces/four-providers.ts";
import { createScriptedModel, type ScriptedModel } from "../../support/faces/scripted-model.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";

const SCHEMA = {
  type: "object",
  properties: { a: { type: "integer" } },
  required: ["a"],
} as const;

let model: ScriptedModel;
let gateway: GatewayProcess;
let key = "";

beforeAll(async () => {
  model = await createScriptedModel();
  gateway = await startGateway(fourProviders(model.url), PROVIDER_ENVIRONMENT);
  ({ key } = await createKey(gateway, {}));
});
afterAll(async () => {
  await gateway?.dispose();
  await model?.close();
});

const client = (): Anthropic =>
  new Anthropic({ baseURL: gateway.publicUrl, apiKey: key, maxRetries: 0 });

function paramsOf(id: string, done: unknown[]) {
  return {
    model: id,
    max_tokens: 100,
    messages: [{ role: "user" as const, content: "Count." }],
    tools: [
      {
        type: "custom" as const,
        name: "count",
        description: "Counts.",
        input_schema: SCHEMA,
        parse: (input: unknown) => input as { a: number },
        run: ({ a }: { a: number }) => {
          done.push(a);
          return "ok";
        },
      },
    ],
  };
}

describe.each(PROVIDERS)("the SDK's runner of tools, on %s", (id) => {
  it.each([false, true])("runs to the end by whole conversations, streamed %s", async (stream) => {
    model.says({ calls: [{ id: "call_1", name: "count", input: { a: 1 } }] }, { text: "Done." });
    const before = model.requests.length;
    const done: unknown[] = [];
    const params = paramsOf(id, done);
    const last = stream
      ? await client().beta.messages.toolRunner({ ...params, stream: true })
      : await client().beta.messages.toolRunner(params);
    expect(last.content).toMatchObject([{ type: "text", text: "Done." }]);
    expect(done).toEqual([1]);
    const bodies = model.requests.slice(before).map(({ body }) => body.toString());
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body).toContain("Count.");
    expect(bodies.join("")).not.toContain("thread");
  });

  it("refuses a kept conversation by the name of the field, before any call", async () => {
    const before = model.requests.length;
    const thread = client().beta.messages.thread({ model: id, max_tokens: 100 });
    const error: unknown = await thread
      .send({ role: "user", content: "Hi." })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(String(error)).toContain("Send all messages, without thread.");
    expect(model.requests).toHaveLength(before);
  });
});

it("goes on with a kept conversation at no native route either", async () => {
  const before = model.requests.length;
  const answer = await fetch(`${gateway.publicUrl}/anthropic/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      model: "claude-sonnet-4-5",
      max_tokens: 9,
      messages: [{ role: "user", content: "What did I say?" }],
      thread: { type: "continue", previous_message_id: "msg_of_another_key" },
    }),
  });
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain("thread.previous_message_id");
  expect(model.requests).toHaveLength(before);
});
