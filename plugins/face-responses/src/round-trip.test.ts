import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FaceRequest, JsonObject } from "@sluice/contract";
import { Members } from "@sluice/kit/dialect";
import { CONTEXT, FACE, read as readRequest } from "./face.fixture.ts";

function read(request: JsonObject): FaceRequest {
  return readRequest({ model: "contract/model", ...request });
}

function replyOf(message: JsonObject): JsonObject {
  const choice = { index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" };
  return { choices: [choice] };
}

/** The messages of a next request that sends back the output of a reply. */
function replayed(request: JsonObject, message: JsonObject): readonly JsonObject[] {
  const { state } = read({ ...request, input: "Go." });
  const { output } = FACE.whole(replyOf(message), state, CONTEXT);
  const items = Members.objectsOf(output);
  const results = items.flatMap(({ type, call_id: id }) =>
    id === undefined ? [] : [{ type: `${String(type)}_output`, call_id: id, output: "ok" }],
  );
  const { body } = read({
    ...request,
    input: [{ role: "user", content: "Go." }, ...items, ...results],
  });
  return Members.objectsOf(body.messages);
}

describe("the output of a reply, sent back", () => {
  it("gives an upstream its blocks and signatures byte-identical and in order", () => {
    const message = {
      content: "I look.",
      reasoning_content: "One.Two.",
      thinking_blocks: [
        { type: "thinking", thinking: "One.", signature: "b25l+/=" },
        { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" },
        { type: "thinking", thinking: "Two.", signature: "dHdv" },
      ],
      tool_calls: [
        {
          id: "call_1",
          type: "function",
          function: { name: "now", arguments: '{"zone": "CET"}' },
          extra_content: { google: { thought_signature: "QQ==" } },
        },
        { id: "call_2", type: "function", function: { name: "now", arguments: "{}" } },
      ],
      extra_content: { google: { thought_signature: "Qg==" } },
    };
    const [, answer, ...results] = replayed(
      { tools: [{ type: "function", name: "now" }] },
      message,
    );
    expect(answer).toEqual({ role: "assistant", ...message, thoughts_of: 0 });
    expect(results.map(({ tool_call_id: id }) => id)).toEqual(["call_1", "call_2"]);
  });

  it("keeps readable reasoning for upstreams that want it, and never as text", () => {
    for (const request of [
      {},
      { include: ["reasoning.encrypted_content"] },
      { reasoning: { summary: "auto" } },
    ]) {
      const [, answer] = replayed(request, { content: "Noon.", reasoning_content: "Let me see." });
      expect(answer).toEqual({
        role: "assistant",
        content: "Noon.",
        reasoning_content: "Let me see.",
        // An envelope is bound to the deployment that answered.
        ...("include" in request ? { thoughts_of: 0 } : {}),
      });
    }
  });

  it("keeps any name of a tool and a namespace, within the names that upstreams take", () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, maxLength: 100, unit: fc.constantFrom(..."aZ0_-. /ö", "😀") }),
      fc.stringMatching(/^[a-z_]{1,8}$/),
    );
    const tool = fc.record({ name, kind: fc.constantFrom("function", "custom") });
    const space = fc.record({ name, tools: fc.array(tool, { minLength: 1, maxLength: 4 }) });
    fc.assert(
      fc.property(
        fc.array(tool, { maxLength: 4 }),
        fc.array(space, { minLength: 1, maxLength: 3 }),
        (plain, spaces) => {
          const declared = (list: typeof plain): JsonObject[] =>
            list.map((each) => ({ type: each.kind, name: each.name }));
          const tools = [
            ...spaces.map((each) => ({
              type: "namespace",
              name: each.name,
              description: "",
              tools: declared(each.tools),
            })),
            ...declared(plain),
          ];
          const { body, state } = read({ input: "Go.", tools });
          const flats = Members.objectsOf(body.tools).map(
            (each) => (each.function as JsonObject).name as string,
          );
          expect(new Set(flats).size).toBe(flats.length);
          for (const flat of flats) expect(flat).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          const calls = flats.map((flat, at) => ({
            id: `call_${at}`,
            type: "function",
            function: { name: flat, arguments: '{"input":"x"}' },
          }));
          const { output } = FACE.whole(
            replyOf({ content: null, tool_calls: calls }),
            state,
            CONTEXT,
          );
          const wanted = new Set([
            ...spaces.flatMap((each) =>
              each.tools.map((one) => JSON.stringify([one.kind, each.name, one.name])),
            ),
            ...plain.map((one) => JSON.stringify([one.kind, null, one.name])),
          ]);
          const called = Members.objectsOf(output).map((item) =>
            JSON.stringify([
              item.type === "custom_tool_call" ? "custom" : "function",
              item.namespace ?? null,
              item.name,
            ]),
          );
          expect(new Set(called)).toEqual(wanted);
          expect(called.length).toBe(wanted.size);
        },
      ),
    );
  });
});

describe("a stream", () => {
  const typesOf = (text: string): (string | undefined)[] =>
    text.split("\n").flatMap((line) => (line.startsWith("event: ") ? [line.slice(7)] : []));

  it("begins a call when its name is known", () => {
    const { state } = read({ input: "Go.", tools: [{ type: "function", name: "now" }] });
    const stream = FACE.stream(state, CONTEXT);
    const piece = (call: JsonObject): string =>
      stream.chunk({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] });
    expect(typesOf(piece({ id: "call_1", function: { arguments: '{"zo' } }))).toEqual([
      "response.created",
      "response.in_progress",
    ]);
    const begun = piece({ function: { name: "now", arguments: 'ne":1}' } });
    expect(typesOf(begun)).toEqual([
      "response.output_item.added",
      "response.function_call_arguments.delta",
    ]);
    expect(begun).toContain(String.raw`"delta":"{\"zone\":1}"`);
  });

  it("gives a whole call before the reply ends", () => {
    const { state } = read({ input: "Go.", tools: [{ type: "function", name: "now" }] });
    const stream = FACE.stream(state, CONTEXT);
    const call = (index: number): JsonObject => ({
      index,
      id: `call_${index}`,
      function: { name: "now", arguments: "{}" },
    });
    stream.chunk({ choices: [{ index: 0, delta: { tool_calls: [call(0)] } }] });
    const next = stream.chunk({ choices: [{ index: 0, delta: { tool_calls: [call(1)] } }] });
    expect(typesOf(next)).toContain("response.output_item.done");
  });

  it("has the log probabilities of each delta where the client asked for them", () => {
    const logprobs = {
      content: [{ token: "Hi", logprob: -0.1, bytes: [72, 105], top_logprobs: [] }],
    };
    const written = (request: JsonObject): string => {
      const { state } = read({ input: "Go.", ...request });
      return FACE.stream(state, CONTEXT).chunk({
        choices: [{ index: 0, delta: { content: "Hi" }, logprobs, finish_reason: "stop" }],
      });
    };
    const listed = `"logprobs":${JSON.stringify(logprobs.content)}`;
    // The delta, the whole text, its part and its item.
    expect(written({ include: ["message.output_text.logprobs"] }).split(listed)).toHaveLength(5);
    expect(written({})).not.toContain("-0.1");
  });
});
