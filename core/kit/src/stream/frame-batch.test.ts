import { describe, expect, it } from "vitest";
import type { Frame } from "@sluice/contract";
import { chunkFrame, rawFrame } from "../openai/stream.ts";
import { FrameRun } from "./frame-run.ts";
import {
  arrivedFrames,
  BatchedFrames,
  batchesOf,
  type BatchSource,
  FrameBatch,
  startingWith,
} from "./frame-batch.ts";

/** A source of batches that records how it was closed. */
function sourceOf(batches: readonly (readonly string[])[], failure?: Error) {
  const state = { closed: 0, taken: 0 };
  const source: BatchSource = {
    async next() {
      const texts = batches[state.taken++];
      if (texts !== undefined) return new FrameBatch(texts.map(rawFrame));
      if (failure !== undefined) throw failure;
      return undefined;
    },
    close: () => void state.closed++,
  };
  return { source, state };
}

async function textsOf(
  frames: AsyncIterable<Frame>,
  most = Infinity,
): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  for await (const { raw } of frames) {
    texts.push(raw);
    if (texts.length >= most) break;
  }
  return texts;
}

async function batchTexts(source: BatchSource): Promise<string[]> {
  const texts: string[] = [];
  for (let batch = await source.next(); batch !== undefined; batch = await source.next())
    texts.push(batch.text());
  return texts;
}

describe("a batch", () => {
  it("is written as server-sent events, data of several lines and made frames too", () => {
    const batch = new FrameBatch([rawFrame('{"a":1}'), chunkFrame({ b: 2 }), rawFrame("x\ny")]);
    expect(batch.text()).toBe('data: {"a":1}\n\ndata: {"b":2}\n\ndata: x\ndata: y\n\n');
    expect(batch.last?.raw).toBe("x\ny");
    expect(batch.frames).toHaveLength(3);
  });
});

describe("batched frames", () => {
  it("come one by one to those who iterate them", async () => {
    const { source } = sourceOf([["a", "b"], ["c"]]);
    expect(await textsOf(new BatchedFrames(source))).toEqual(["a", "b", "c"]);
  });

  it("come in batches to those who ask for them, behind those that were iterated", async () => {
    const { source } = sourceOf([["a", "b", "c"], ["d"]]);
    const frames = new BatchedFrames(source);
    expect((await frames.next()).value?.raw).toBe("a");
    expect(await batchTexts(batchesOf(frames))).toEqual(["data: b\n\ndata: c\n\n", "data: d\n\n"]);
  });

  it("are closed when a reader leaves in the middle of a batch, and give nothing after it", async () => {
    const { source, state } = sourceOf([["a", "b"], ["c"]]);
    const frames = new BatchedFrames(source);
    expect(await textsOf(frames, 1)).toEqual(["a"]);
    expect(state).toEqual({ closed: 1, taken: 1 });
  });

  it("are not read ahead", async () => {
    const { source, state } = sourceOf([["a", "b"], ["c"]]);
    const frames = new BatchedFrames(source);
    await frames.next();
    await frames.next();
    expect(state.taken).toBe(1);
  });

  it("fail behind the frames that came before", async () => {
    const { source } = sourceOf([["a"]], new Error("cut"));
    const frames = new BatchedFrames(source);
    expect((await frames.next()).value?.raw).toBe("a");
    await expect(frames.next()).rejects.toThrow("cut");
  });
});

describe("a batch with a run", () => {
  const run = (inside: string, isAscii: boolean) => {
    const pieces = [inside, "b"];
    const text = pieces.map((piece) => `data: {"a":"${piece}"}\n\n`).join("");
    const parts = {
      text,
      isAscii,
      characters: pieces.join("").length,
      pieces,
      count: 2,
      end: text.length,
      lastData: "",
    };
    return new FrameRun({ head: '{"a":"', behind: ['"}'], said: 0 }, parts);
  };

  it("counts the bytes of its frames, as if they stood alone", () => {
    for (const [inside, isAscii] of [
      ["x", true],
      ["€", false],
    ] as const) {
      const batch = new FrameBatch([rawFrame("ü"), run(inside, isAscii)]);
      const alone = batch.frames.map(({ raw }) => Buffer.byteLength(raw ?? ""));
      expect(batch.bytes).toBe(alone.reduce((sum, bytes) => sum + bytes, 0));
    }
  });

  it("leaves out frames that match, a run by its last one", () => {
    const batch = new FrameBatch([rawFrame("c"), run("a", true)]);
    expect(batch.without(({ raw }) => raw === "d")).toBe(batch);
    expect(batch.without(({ raw }) => raw === "c")?.items).toEqual(batch.items.slice(1));
    expect(batch.without(({ raw }) => raw === '{"a":"b"}')?.items).toEqual(batch.items.slice(0, 1));
    expect(batch.without(() => true)).toBeUndefined();
  });

  it("shows where its frames say their text", () => {
    expect(run("x", true).saying("other").chunk()).toEqual({ a: "other" });
  });
});

describe("the batches of a step's own frames", () => {
  it("hold one frame each, and close its generator", async () => {
    let isClosed = false;
    async function* own(): AsyncGenerator<Frame, void, undefined> {
      try {
        yield rawFrame("a");
        yield rawFrame("b");
      } finally {
        isClosed = true;
      }
    }
    const source = batchesOf(own());
    expect(source.isOneByOne).toBe(true);
    expect((await source.next())?.text()).toBe("data: a\n\n");
    await source.close();
    expect(isClosed).toBe(true);
    expect(await source.next()).toBeUndefined();
  });
});

describe("frames that have arrived", () => {
  it("come in batches of about 64 KiB", async () => {
    const frames = Array.from({ length: 5 }, () => rawFrame("x".repeat(40_000)));
    const source = batchesOf(arrivedFrames(frames));
    const counts: (number | undefined)[] = [];
    for (let batch = await source.next(); batch !== undefined; batch = await source.next())
      counts.push(batch.frames.length);
    expect(counts).toEqual([2, 2, 1]);
    const closed = batchesOf(arrivedFrames(frames));
    await closed.close();
    expect(await closed.next()).toBeUndefined();
  });
});

describe("batches that are there already", () => {
  it("come first, and closing drops them", async () => {
    const one = sourceOf([["b"]]);
    expect(await batchTexts(startingWith([new FrameBatch([rawFrame("a")])], one.source))).toEqual([
      "data: a\n\n",
      "data: b\n\n",
    ]);
    const two = sourceOf([]);
    const closed = startingWith([new FrameBatch([rawFrame("a")])], two.source);
    await closed.close();
    expect(await closed.next()).toBeUndefined();
    expect(two.state.closed).toBe(1);
  });
});
