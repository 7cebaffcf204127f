import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { type ErrorCode, GatewayError, isGatewayError, type JsonObject } from "@sluice/contract";
import { CONTEXT, FACE, read } from "./face.fixture.ts";

const CALL = {
  id: "call_1",
  type: "function",
  function: { name: "now", arguments: '{"zone":"CET"}' },
};

/**
 * A client whose requests the face reads, and whose replies it writes; `respond` is the upstream.
 */
function clientOf(respond: (body: JsonObject, state: unknown) => Response): OpenAI {
  return new OpenAI({
    apiKey: "sk-example",
    baseURL: "http://127.0.0.1/v1",
    maxRetries: 0,
    fetch: async (_url, init) => {
      try {
        const { body, state } = read(JSON.parse(String(init?.body)) as JsonObject);
        return respond(body, state);
      } catch (error) {
        if (!isGatewayError(error)) throw error;
        return failed(error);
      }
    },
  });
}

function failed(error: GatewayError): Response {
  const { status, body } = FACE.error(error, CONTEXT.requestId);
  return Response.json(body, { status });
}

/** A body that arrives byte by byte. */
function dripping(text: string): Response {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (at === bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, ++at));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

describe("the OpenAI SDK", () => {
  it("reads a whole reply, its text and its call", async () => {
    const client = clientOf((_body, state) =>
      Response.json(
        FACE.whole(
          {
            choices: [
              {
                index: 0,
                message: { role: "assistant", content: "I look.", tool_calls: [CALL] },
                finish_reason: "tool_calls",
              },
            ],
          },
          state,
          CONTEXT,
        ),
      ),
    );
    const response = await client.responses.create({ model: "contract/model", input: "Time?" });
    expect(response.output_text).toBe("I look.");
    expect(response.output.at(-1)).toMatchObject({
      call_id: "call_1",
      arguments: '{"zone":"CET"}',
    });
  });

  it("parses the structured output of a stream that arrives byte by byte, with heartbeats", async () => {
    const client = clientOf((body, state) => {
      expect(body.response_format).toMatchObject({ type: "json_schema" });
      const stream = FACE.stream(state, CONTEXT);
      const deltas = ['{"zone":"', "Zürich", '"}'].map((content) =>
        stream.chunk({ choices: [{ index: 0, delta: { content } }] }),
      );
      const finish = stream.chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      return dripping([...deltas, finish, stream.end()].join(FACE.heartbeat));
    });
    const stream = client.responses.stream({
      model: "contract/model",
      input: "Where?",
      text: { format: { type: "json_schema", name: "zone", schema: { type: "object" } } },
    });
    expect((await stream.finalResponse()).output_text).toBe('{"zone":"Zürich"}');
  });

  it("throws its own classes, with codes as text", async () => {
    const classes: [ErrorCode, new (...given: never[]) => Error, string][] = [
      ["invalid_field", OpenAI.BadRequestError, "invalid_field"],
      ["authentication_failed", OpenAI.AuthenticationError, "invalid_api_key"],
      ["permission_denied", OpenAI.PermissionDeniedError, "permission_denied"],
      ["model_not_found", OpenAI.NotFoundError, "model_not_found"],
      ["rate_limited", OpenAI.RateLimitError, "rate_limit_exceeded"],
      ["budget_exceeded", OpenAI.RateLimitError, "insufficient_quota"],
      ["context_length_exceeded", OpenAI.BadRequestError, "context_length_exceeded"],
      ["internal_error", OpenAI.InternalServerError, "server_error"],
    ];
    for (const [code, expected, name] of classes) {
      const client = clientOf(() =>
        failed(new GatewayError(code, "It happened.", { param: "model" })),
      );
      const error: unknown = await client.responses
        .create({ model: "contract/model", input: "Hi" })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(expected);
      expect(error).toMatchObject({ code: name, param: "model" });
    }
  });

  it("sees a refusal of a stored state by its field", async () => {
    const client = clientOf(() => {
      throw new Error("The request was read.");
    });
    await expect(
      client.responses.create({
        model: "contract/model",
        input: "Hi",
        previous_response_id: "resp_1",
      }),
    ).rejects.toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
  });

  it("reads a stream that fails, before and after its first text", async () => {
    for (const texts of [[], ["Once"]]) {
      const client = clientOf((_body, state) => {
        const stream = FACE.stream(state, CONTEXT);
        const text = texts
          .map((content) => stream.chunk({ choices: [{ index: 0, delta: { content } }] }))
          .join("");
        const error = new GatewayError("rate_limited", "Slow down.", { retryAfterMs: 1_500 });
        return dripping(text + stream.failure(error));
      });
      const response = await client.responses
        .stream({ model: "contract/model", input: "Hi" })
        .finalResponse();
      expect(response.status).toBe("failed");
      expect(response.error).toEqual({
        code: "rate_limit_exceeded",
        message: "Slow down. Please try again in 1.5s.",
      });
      expect(response.output_text).toBe(texts.join(""));
    }
  });
});
