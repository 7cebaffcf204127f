/** The unmodified SDK in front of the face. */

import { GatewayError, isGatewayError, type JsonObject } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { FACE_CONTEXT, FACE_MEANS, fakeHost } from "@sluice/testing";
import OpenAI from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import { completions } from "./index.ts";

const face = completions.create({}, fakeHost());
const CONTEXT = { ...FACE_CONTEXT, requestId: "r-1", model: "m", startedAtMs: 5_000 };
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

let bodies: JsonObject[];
let reply: JsonObject | readonly (JsonObject | GatewayError)[] | GatewayError;
beforeEach(() => {
  bodies = [];
});

/** The gateway in small. */
function answer(text: string): Response {
  try {
    const { body, state } = face.read(documentOf(text), undefined as never, FACE_MEANS);
    bodies.push(body);
    if (isGatewayError(reply)) throw reply;
    if (!Array.isArray(reply))
      return Response.json(face.whole(reply as JsonObject, state, CONTEXT));
    const writer = face.stream(state, CONTEXT);
    let events = "";
    for (const chunk of reply as readonly (JsonObject | GatewayError)[]) {
      if (isGatewayError(chunk)) return streamOf(events + writer.failure(chunk));
      events += face.heartbeat + writer.chunk(chunk);
    }
    return streamOf(events + writer.end());
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    const { status, body } = face.error(error, "r-1");
    return Response.json(body, { status });
  }
}

function streamOf(events: string): Response {
  return new Response(events, { headers: { "content-type": "text/event-stream" } });
}

const client = new OpenAI({
  apiKey: "k",
  maxRetries: 0,
  fetch: (_url, init) => Promise.resolve(answer(String(init?.body))),
});

const delta = (members: JsonObject, finish: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta: members, finish_reason: finish }],
});

describe("completions", () => {
  it("are answered by a chat model", async () => {
    reply = {
      choices: [
        { index: 0, message: { role: "assistant", content: " time." }, finish_reason: "length" },
      ],
      usage: USAGE,
    };
    const made = await client.completions.create({
      model: "m",
      prompt: "Once upon a",
      temperature: 0,
      stop: ["\n"],
      echo: false,
      suffix: null,
    });
    expect(made).toEqual({
      id: "cmpl-r-1",
      object: "text_completion",
      created: 5,
      model: "m",
      choices: [{ text: " time.", index: 0, logprobs: null, finish_reason: "length" }],
      usage: USAGE,
    });
    expect(bodies).toEqual([
      {
        model: "m",
        messages: [{ role: "user", content: "Once upon a" }],
        max_completion_tokens: 16,
        temperature: 0,
        stop: ["\n"],
      },
    ]);
  });

  it("are streamed", async () => {
    reply = [
      delta({ role: "assistant", content: "" }),
      delta({ content: " ti" }),
      delta({ content: "me." }),
      delta({}, "stop"),
      { choices: [], usage: USAGE },
    ];
    const stream = await client.completions.create({
      model: "m",
      prompt: ["Once upon a"],
      max_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
    });
    const texts: string[] = [];
    let usage: unknown;
    for await (const chunk of stream) {
      for (const { text, finish_reason } of chunk.choices) texts.push(`${text}|${finish_reason}`);
      usage = chunk.usage ?? usage;
    }
    expect(texts).toEqual([" ti|null", "me.|null", "|stop"]);
    expect(usage).toEqual(USAGE);
    expect(bodies[0]).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 9,
    });
  });

  it("fail as errors of the SDK's own classes", async () => {
    reply = new GatewayError("rate_limited", "Slow down.");
    await expect(client.completions.create({ model: "m", prompt: "Hi" })).rejects.toBeInstanceOf(
      OpenAI.RateLimitError,
    );
    const refused = client.completions.create({ model: "m", prompt: "Hi", suffix: "end" });
    await expect(refused).rejects.toMatchObject({ status: 400, param: "suffix" });
  });

  it("fail in the middle of a stream", async () => {
    reply = [delta({ content: "a" }), new GatewayError("upstream_failed", "It failed.")];
    const stream = await client.completions.create({ model: "m", prompt: "Hi", stream: true });
    const read = async (): Promise<void> => {
      for await (const { choices } of stream) expect(choices[0]?.text).toBe("a");
    };
    await expect(read()).rejects.toThrow(/It failed/);
  });
});
