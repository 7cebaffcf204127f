import Anthropic from "@anthropic-ai/sdk";
import type { JsonObject } from "@sluice/contract";
import { faceContract } from "@sluice/testing";
import { describe, it } from "vitest";
import messages from "./index.ts";

/** The message that the SDK's own accumulator makes of a stream. */
async function fold(_: unknown, text: string): Promise<JsonObject> {
  const client = new Anthropic({
    apiKey: "sk-made-up",
    maxRetries: 0,
    fetch: () =>
      Promise.resolve(new Response(text, { headers: { "content-type": "text/event-stream" } })),
  });
  const stream = client.messages.stream({
    model: "contract/model",
    max_tokens: 64,
    messages: [{ role: "user", content: "Hello." }],
  });
  const message: unknown = JSON.parse(JSON.stringify(await stream.finalMessage()));
  return comparable(message as JsonObject);
}

/** The SDK keeps neither count from the last event, and adds its own parsed output. */
function comparable(message: JsonObject): JsonObject {
  const { usage, content } = message;
  return {
    ...without(message, "parsed_output"),
    content: (content as readonly JsonObject[]).map((block) => without(block, "parsed_output")),
    usage: without(usage as JsonObject, "cache_creation", "service_tier"),
  };
}

function without(value: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

faceContract({ describe, it }, messages, {
  fixtures: new URL("../fixtures/", import.meta.url),
  request: {
    model: "contract/model",
    max_tokens: 64,
    messages: [{ role: "user", content: "Hello." }],
  },
  fold,
  comparable,
});
