import { describe, expect, it } from "vitest";
import type { Frame, JsonObject } from "@sluice/contract";
import {
  blocking,
  deltaFrame,
  instanceOf,
  masking,
  guardrailSetOf,
  streamOf,
} from "@sluice/testing/guardrail-instances";
import { guardFrames } from "./guard-frames.ts";
import type { GuardedStreamOptions } from "./options.ts";
import { anthropicStream } from "./anthropic.ts";
import { chunkFrame, rawFrame } from "@sluice/kit/internals";

async function* from(frames: readonly Frame[]): AsyncGenerator<Frame, void, undefined> {
  yield* frames;
}

async function all(frames: readonly Frame[], options: GuardedStreamOptions): Promise<Frame[]> {
  const out: Frame[] = [];
  for await (const frame of guardFrames(from(frames), options, () => undefined)) out.push(frame);
  return out;
}

interface Delta {
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly function: { readonly name?: string; readonly arguments?: string };
  }[];
}

function deltas(frames: readonly Frame[]): Delta[] {
  return frames.flatMap((frame) =>
    (frame.chunk().choices as unknown as { delta: Delta }[]).map(({ delta }) => delta),
  );
}

describe("a guarded stream", () => {
  it("writes unchanged frames as they came, held or not", async () => {
    const { set } = guardrailSetOf([instanceOf("m", masking(/bad/g, 3))]);
    const frames = ["The ", "good", " old ", "da", "ys"].map((content) => deltaFrame({ content }));
    const out = await all([...frames, deltaFrame({}, { finish_reason: "stop" })], streamOf(set));
    expect(out.slice(0, 5).map(({ raw }) => raw)).toEqual(frames.map(({ raw }) => raw));
  });

  it("judges every channel for itself, and lets one overtake what another holds", async () => {
    const { set, outcomes } = guardrailSetOf([instanceOf("m", masking(/bad/g, 3))]);
    const frames = [
      deltaFrame({ reasoning_content: "ba" }),
      deltaFrame({ content: "d is fine, b" }),
      deltaFrame({ reasoning_content: "d" }),
      deltaFrame({ content: "ad is not" }),
      deltaFrame({}, { finish_reason: "stop" }),
    ];
    const out = deltas(await all(frames, streamOf(set)));
    expect(out.map((delta) => delta.content ?? "").join("")).toBe("d is fine, * is not");
    expect(out.map((delta) => delta.reasoning_content ?? "").join("")).toBe("*");
    expect(outcomes).toHaveLength(2);
  });

  it("keeps the finish and the usage behind what it held", async () => {
    const { set } = guardrailSetOf([instanceOf("m", masking(/bad/g, 30))]);
    const usage = rawFrame('{"choices":[],"usage":{"total_tokens":1}}');
    const out = await all(
      [deltaFrame({ content: "short" }), deltaFrame({}, { finish_reason: "stop" }), usage],
      streamOf(set),
    );
    expect(out.map(({ raw }) => raw?.includes("short"))).toEqual([true, false, false]);
    expect(out.at(-1)).toBe(usage);
    const cited = rawFrame('{"choices":[],"citations":["a"],"usage":{"total_tokens":1}}');
    expect(
      (await all([deltaFrame({ content: "short" }), cited], streamOf(set))).map(({ raw }) =>
        raw?.includes("short"),
      ),
    ).toEqual([true, false]);
  });

  it("splits a chunk with several texts, so that none waits for another", async () => {
    const { set } = guardrailSetOf([instanceOf("m", masking(/bad/g, 3))]);
    const calls = [
      { index: 0, id: "a", type: "function", function: { name: "f", arguments: '{"x":"ba' } },
      { index: 1, id: "b", type: "function", function: { name: "g", arguments: "{}" } },
    ];
    const more = [{ index: 0, function: { arguments: 'd"}' } }];
    const out = deltas(
      await all(
        [
          deltaFrame({ tool_calls: calls }),
          deltaFrame({ tool_calls: more }),
          deltaFrame({}, { finish_reason: "tool_calls" }),
        ],
        streamOf(set),
      ),
    );
    const pieces = out.flatMap((delta) => delta.tool_calls ?? []);
    expect(
      pieces
        .filter(({ index }) => index === 0)
        .map((call) => call.function.arguments)
        .join(""),
    ).toBe('{"x":"*"}');
    expect(pieces.filter(({ index }) => index === 1).map((call) => call.function)).toEqual([
      { name: "g", arguments: "{}" },
    ]);
  });

  it("drops the probabilities of tokens that it changed", async () => {
    const { set } = guardrailSetOf([instanceOf("m", masking(/bad/g, 3))]);
    const frame = deltaFrame(
      { content: "bad" },
      { logprobs: { content: [{ token: "bad" }] }, finish_reason: "stop" },
    );
    expect(JSON.stringify((await all([frame], streamOf(set)))[0]!.chunk())).not.toContain("bad");
  });

  it("refuses a name that is forbidden although it comes in pieces", async () => {
    const { set } = guardrailSetOf([instanceOf("b", blocking(/bad/, 3))]);
    const name = (text: string): Frame =>
      deltaFrame({ tool_calls: [{ index: 0, function: { name: text, arguments: "" } }] });
    await expect(all([name("ba"), name("d")], streamOf(set))).rejects.toMatchObject({
      code: "guardrail_violation",
    });
  });

  it("closes the upstream's frames when it blocks", async () => {
    const { set } = guardrailSetOf([instanceOf("b", blocking(/bad/, 3))]);
    let isClosed = false;
    async function* inner(): AsyncGenerator<Frame, void, undefined> {
      try {
        for (;;) yield deltaFrame({ content: "bad" });
      } finally {
        isClosed = true;
      }
    }
    const guarded = guardFrames(inner(), streamOf(set), () => undefined);
    await expect(guarded.next()).rejects.toMatchObject({ code: "guardrail_violation", param: "b" });
    expect(isClosed).toBe(true);
  });

  it("only reports what observers find, at the end", async () => {
    const { set, outcomes } = guardrailSetOf([instanceOf("b", blocking(/bad/, 3))]);
    const frames = [
      deltaFrame({ content: "b" }),
      deltaFrame({ content: "ad" }),
      deltaFrame({}, { finish_reason: "stop" }),
    ];
    const out = await all(frames, streamOf(set.none(), { observers: set.asObservers() }));
    expect(out).toEqual(frames);
    expect(outcomes).toEqual([
      { guardrail: "b", direction: "output", verdict: "block", mode: "observe" },
    ]);
  });

  it("tells that observers did not see all of a text, in the log and as a failure of theirs", async () => {
    const { set, outcomes, lines } = guardrailSetOf([instanceOf("m", masking(/bad/g, 3))]);
    const frames = ["bad", "x".repeat(20), "more"].map((content) => deltaFrame({ content }));
    const options = streamOf(set.none(), { observers: set.asObservers(), maxHeld: 10 });
    expect(await all(frames, options)).toEqual(frames);
    expect(outcomes.map(({ verdict, mode }) => `${mode} ${verdict}`)).toEqual([
      "observe error",
      "observe edit",
    ]);
    expect(lines).toMatchObject([{ level: "warn", fields: { guardrail: "m", max_held: 10 } }]);
  });

  it("reads Anthropic's events by their blocks", async () => {
    const { set } = guardrailSetOf([instanceOf("m", masking(/bad/g, 3))]);
    const event = (value: JsonObject): Frame => rawFrame(JSON.stringify(value));
    const delta = (index: number, of: JsonObject): Frame =>
      event({ type: "content_block_delta", index, delta: of });
    const frames = [
      delta(0, { type: "text_delta", text: "so b" }),
      delta(0, { type: "text_delta", text: "ad" }),
      event({ type: "content_block_stop", index: 0 }),
      delta(1, { type: "input_json_delta", partial_json: '{"a":"\\u00' }),
      delta(1, { type: "input_json_delta", partial_json: '62ad"}' }),
      event({ type: "content_block_stop", index: 1 }),
      event({ type: "message_stop" }),
    ];
    const out = await all(frames, streamOf(set, { dialect: anthropicStream, frameOf: chunkFrame }));
    const said = out.map(
      (frame) => frame.chunk().delta as { text?: string; partial_json?: string } | undefined,
    );
    expect(said.map((one) => one?.text ?? "").join("")).toBe("so *");
    expect(said.map((one) => one?.partial_json ?? "").join("")).toBe('{"a":"*"}');
  });
});

describe("a stream that is slow", () => {
  /** Frames that come when the test says so. */
  function paced(): {
    readonly frames: AsyncIterable<Frame>;
    send(frame: Frame): void;
    readonly isClosed: () => boolean;
  } {
    const waiting: PromiseWithResolvers<IteratorResult<Frame>>[] = [];
    let at = 0;
    let isClosed = false;
    const place = (index: number): PromiseWithResolvers<IteratorResult<Frame>> =>
      (waiting[index] ??= Promise.withResolvers());
    let asked = 0;
    return {
      frames: {
        [Symbol.asyncIterator]: () => ({
          next: () => place(asked++).promise,
          return() {
            isClosed = true;
            for (let index = at; index < asked; index++)
              place(index).resolve({ done: true, value: undefined });
            return Promise.resolve({ done: true as const, value: undefined });
          },
        }),
      },
      send: (frame) => place(at++).resolve({ done: false, value: frame }),
      isClosed: () => isClosed,
    };
  }

  it("does not keep decided text waiting for more of it", async () => {
    const { set } = guardrailSetOf([instanceOf("m", masking(/bad/g, 3))]);
    const { frames, send, isClosed } = paced();
    const guarded = guardFrames(frames, streamOf(set), () => undefined);
    send(deltaFrame({ content: "The first words." }));
    send(deltaFrame({ content: "bad" }));
    send(deltaFrame({ content: " day" }));
    const texts: (string | undefined)[] = [];
    while (!texts.join("").includes("*")) {
      // oxlint-disable-next-line no-await-in-loop -- frames come one after the other.
      const { value } = await guarded.next();
      texts.push(deltas([value as Frame])[0]?.content);
    }
    expect(texts.join("")).toBe("The first words.*");
    // Nothing more comes, and a reader that leaves does not wait for it.
    const next = guarded.next();
    await guarded.return();
    expect(isClosed()).toBe(true);
    void next;
  });

  it("has its first frame when that is decided, however fast the others come", async () => {
    const { set } = guardrailSetOf([instanceOf("b", blocking(/forbidden/, 9))]);
    const pieces = "A harmless beginning, and then something forbidden.".match(/.{1,8}/gs) ?? [];
    const frames = from(pieces.map((content) => deltaFrame({ content })));
    const texts: (string | undefined)[] = [];
    const read = async (): Promise<void> => {
      for await (const frame of guardFrames(frames, streamOf(set), () => undefined))
        texts.push(deltas([frame])[0]?.content);
    };
    await expect(read()).rejects.toMatchObject({ code: "guardrail_violation" });
    expect(texts.join("")).toBe(
      "A harmless beginning, and then something forbidden.".slice(0, texts.length * 8),
    );
    expect(texts.length).toBe(5);
  });

  it("is ended by what is found in waiting text, without another frame", async () => {
    const { set } = guardrailSetOf([instanceOf("b", blocking(/bad/, 3))]);
    const { frames, send, isClosed } = paced();
    const guarded = guardFrames(frames, streamOf(set), () => undefined);
    send(deltaFrame({ content: "The first words." }));
    send(deltaFrame({ content: "bad day." }));
    const read = async (): Promise<void> => {
      for await (const _frame of guarded);
    };
    await expect(read()).rejects.toMatchObject({ code: "guardrail_violation" });
    expect(isClosed()).toBe(true);
  });
});
