import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  errorBody,
  type Face,
  type FaceContext,
  type FaceStream,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { defineFace } from "@sluice/kit";
import { afterAll, describe, expect, it } from "vitest";
import { FACE_MEANS } from "./cases.ts";
import { completionOf } from "./completion.ts";
import { faceContract } from "./face-contract.ts";
import { readWireEvents } from "./wire.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-face-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ASKED = { model: "contract/model", messages: [{ role: "user", content: "Hi" }] };
const REPLY = {
  id: "chatcmpl-contract",
  object: "chat.completion",
  created: 1_767_225_600,
  model: "contract/model",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: "Flüsse",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
        ],
      },
      logprobs: null,
      finish_reason: "tool_calls",
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const CHUNKS = [
  { delta: { role: "assistant", content: "" } },
  { delta: { content: "Flü" } },
  { delta: { content: "sse" } },
  {
    delta: {
      tool_calls: [
        { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "" } },
      ],
    },
  },
  { delta: { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] } },
  { finish_reason: "tool_calls" },
  { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
];
const CASES: JsonObject[] = [
  { name: "request", given: ASKED, expected: { body: ASKED } },
  {
    name: "request-refused",
    given: { model: 1 },
    expected: {
      refused: { code: "invalid_field", param: "model", message: "model must be a string." },
    },
  },
  { name: "reply", given: REPLY, expected: REPLY },
  { name: "stream", given: CHUNKS },
  {
    name: "stream-failed",
    given: [...CHUNKS.slice(0, 2), { error: { code: "upstream_failed", message: "It failed." } }],
  },
  { name: "error", given: { code: "rate_limited", message: "Slow down." } },
];

const event = (value: JsonValue): string => `data: ${JSON.stringify(value)}\n\n`;
const bodyOf = (error: GatewayError): JsonObject =>
  ({ ...errorBody(error) }) as unknown as JsonObject;

/** The reference dialect as a face. */
const FACE: Face = {
  dialect: "plain",
  heartbeat: ": ping\n\n",
  read: ({ value }) => {
    if (typeof value.model !== "string")
      throw new GatewayError("invalid_field", "model must be a string.", { param: "model" });
    return { body: value, state: {} };
  },
  whole: (reply) => reply,
  stream: () => ({
    chunk: event,
    end: () => "data: [DONE]\n\n",
    failure: (error) => event(bodyOf(error)),
  }),
  error: (error) => ({ status: error.status, body: bodyOf(error) }),
};

/** Runs the suite of the face with some functions replaced, and gives what failed. */
async function failures(
  replaced: Partial<Face> = {},
  cases: readonly JsonObject[] = CASES,
): Promise<Map<string, string>> {
  writeFileSync(
    join(folder, "plain.cases.json"),
    JSON.stringify({ source: "https://example.com", cases }),
  );
  const tests: (readonly [string, () => void | Promise<void>])[] = [];
  faceContract(
    { describe: (_, define) => define(), it: (title, run) => tests.push([title, run]) },
    defineFace<never>({
      name: "plain",
      stability: "beta",
      summary: "A test.",
      config: { type: "object", properties: {} },
      paths: ["POST /v1/plain"],
      create: () => ({ ...FACE, ...replaced }),
    }),
    {
      fixtures: pathToFileURL(`${folder}/`),
      request: ASKED,
      oddDocuments: 50,
      fold: (events) => {
        expect(events.at(-1)?.data).toBe("[DONE]");
        return completionOf(events.slice(0, -1).map(({ data }) => JSON.parse(data) as JsonObject));
      },
    },
  );
  const failed = new Map<string, string>();
  for (const [title, run] of tests) {
    try {
      await run();
    } catch (error) {
      failed.set(title, (error as Error).message);
    }
  }
  return failed;
}

/** The cases with what the face itself writes as expected. */
async function settled(): Promise<readonly JsonObject[]> {
  const first = await failures();
  expect([...first.values()].filter((each) => !each.includes('had no "expected"'))).toEqual([]);
  const table = JSON.parse(readFileSync(join(folder, "plain.cases.json"), "utf8")) as JsonObject;
  return table.cases as readonly JsonObject[];
}

const stream =
  (change: (stream: FaceStream) => Partial<FaceStream>): Face["stream"] =>
  (state, context: FaceContext) => {
    const made = FACE.stream(state, context);
    return { ...made, ...change(made) };
  };

let shared = 0;

describe("the contract of faces", () => {
  it("writes what a case lacks, and passes then", async () => {
    expect([...(await failures({}, await settled()))]).toEqual([]);
  });

  it.each<[string, Partial<Face>, RegExp]>([
    [
      "a request read otherwise",
      { read: ({ value }) => ({ body: { ...value, n: 1 }, state: {} }) },
      /reads plain\/request$/m,
    ],
    [
      "a fault of its own",
      {
        read: ({ value }) => {
          if (value.model === undefined) throw new TypeError("x");
          return FACE.read({ value } as never, {} as never, FACE_MEANS);
        },
      },
      /odd document/,
    ],
    [
      "stages that read it otherwise",
      {
        *readInStages(document, client, means) {
          yield;
          const { body, state } = FACE.read(document, client, means);
          return { body: { ...body, n: 1 }, state };
        },
      },
      /reads plain\/request$/m,
    ],
    [
      "a changed document",
      {
        read: (document, client, means) => {
          (document.value as { model?: string }).model = "x";
          return FACE.read(document, client, means);
        },
      },
      /reads plain\/request$/m,
    ],
    [
      "a whole reply unlike the stream",
      { whole: (reply) => ({ ...reply, id: "other" }) },
      /folds to the same/,
    ],
    [
      "a stream without its end",
      { stream: stream(() => ({ end: () => "" })) },
      /like the whole reply/,
    ],
    [
      "pieces that are lost",
      {
        stream: stream((made) => {
          let last = "";
          return {
            chunk: (chunk) => {
              const text = made.chunk(chunk);
              const isSame = text === last;
              last = text;
              return isSame ? "" : text;
            },
          };
        }),
      },
      /every grouping/,
    ],
    [
      "an event that is cut",
      { stream: stream((made) => ({ failure: (error) => made.failure(error).trimEnd() })) },
      /complete events/,
    ],
    [
      "a failure that says nothing",
      { stream: stream(() => ({ failure: () => event({}) })) },
      /complete events/,
    ],
    [
      "a heartbeat that is an event",
      { heartbeat: event({ choices: [{ index: 0, delta: { content: "x" } }] }) },
      /heartbeat/,
    ],
    [
      "a state that two streams share",
      {
        stream: stream((made) => ({
          chunk: (chunk) => made.chunk({ ...chunk, created: shared++ }),
        })),
      },
      /at once/,
    ],
    [
      "an error without its message",
      { error: ({ status }) => ({ status, body: {} }) },
      /every code/,
    ],
    [
      "an error with the status of a success",
      { error: (error) => ({ status: 200, body: bodyOf(error) }) },
      /every code/,
    ],
  ])("finds %s", async (_, replaced, title) => {
    const cases = await settled();
    const failed = await failures(replaced, cases);
    expect([...failed.keys()].join("\n")).toMatch(title);
  });

  it("finds a stream that joins what one chunk divides", async () => {
    const cases = await settled();
    // Only the first of several things in a chunk is written.
    const lossy = stream((made) => ({
      chunk: (chunk) => {
        const [choice] = chunk.choices as readonly JsonObject[];
        const delta = choice?.delta as JsonObject | undefined;
        const [name] = Object.keys(delta ?? {});
        return name === undefined || choice === undefined
          ? made.chunk(chunk)
          : made.chunk({ ...chunk, choices: [{ ...choice, delta: { [name]: delta?.[name] } }] });
      },
    }));
    expect([...(await failures({ stream: lossy }, cases)).keys()].join("\n")).toMatch(
      /every grouping/,
    );
  });
});

describe("the text of a stream", () => {
  it("is read as events, without comments", () => {
    expect(readWireEvents("event: a\ndata: 1\n\n: ping\n\ndata: 2\ndata: 3\n\n")).toEqual([
      { event: "a", data: "1" },
      { data: "2\n3" },
    ]);
  });

  it.each(["data: 1\n", "data: 1", "event: a\n\n", "dat: 1\n\n", "data:1\n\n", "data: 1\r\n\n\n"])(
    "is refused: %j",
    (text) => {
      expect(() => readWireEvents(text)).toThrow(/event|carriage return/);
    },
  );
});
