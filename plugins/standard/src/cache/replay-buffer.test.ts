import { describe, expect, it } from "vitest";
import type { Frame } from "@sluice/contract";
import { GatewayError } from "@sluice/contract";
import { rawFrame } from "@sluice/kit/internals";
import { ReplayBuffer } from "./replay-buffer.ts";

const signal = new AbortController().signal;
const options = { wantsUsage: true, signal, onEnd: () => undefined };
const USAGE = '{"choices":[],"usage":{"prompt_tokens":1}}';

function source(texts: readonly string[], failure?: Error) {
  const state = { isClosed: false, given: 0 };
  async function* frames(): AsyncGenerator<Frame, void, undefined> {
    try {
      for (const text of texts) {
        await Promise.resolve();
        state.given += 1;
        yield rawFrame(text);
      }
      if (failure !== undefined) throw failure;
    } finally {
      state.isClosed = true;
    }
  }
  return { frames: frames(), state };
}

async function textsOf(frames: AsyncIterable<Frame>): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  for await (const { raw } of frames) texts.push(raw);
  return texts;
}

describe("a buffer", () => {
  it("gives every reader all frames, also one that comes late", async () => {
    const buffer = new ReplayBuffer(source(["a", "b", "c"]).frames, 100);
    const first = buffer.read(buffer.join(), options);
    await first.next();
    await first.next();
    const both = [textsOf(first), textsOf(buffer.read(buffer.join(), options))];
    expect(await Promise.all(both)).toEqual([["c"], ["a", "b", "c"]]);
    expect(buffer.complete?.map(({ raw }) => raw)).toEqual(["a", "b", "c"]);
  });

  it("withholds the usage from readers that did not ask for it", async () => {
    const buffer = new ReplayBuffer(source(["a", USAGE]).frames, 100);
    const listeners = [buffer.join(), buffer.join()] as const;
    expect(await textsOf(buffer.read(listeners[0], { ...options, wantsUsage: false }))).toEqual(["a"]);
    expect(await textsOf(buffer.read(listeners[1], options))).toEqual(["a", USAGE]);
  });

  it("gives every reader the same failure", async () => {
    const failure = new GatewayError("stream_truncated", "Cut.");
    const buffer = new ReplayBuffer(source(["a"], failure).frames, 100);
    const both = [buffer.read(buffer.join(), options), buffer.read(buffer.join(), options)];
    const ends = await Promise.allSettled(both.map(textsOf));
    expect(ends.map((end) => (end.status === "rejected" ? (end.reason as unknown) : end))).toEqual([failure, failure]);
    expect([buffer.isOpen, buffer.complete]).toEqual([false, undefined]);
  });

  it("closes its source when the last reader leaves, also one that never began", async () => {
    const { frames, state } = source(["a", "b"]);
    const buffer = new ReplayBuffer(frames, 100);
    const first = buffer.read(buffer.join(), options);
    const second = buffer.read(buffer.join(), options);
    await first.next();
    await first.return();
    expect(state.isClosed).toBe(false);
    await second.return();
    expect(state.isClosed).toBe(true);
    await buffer.ended;
  });

  it("ends the reader whose signal is aborted, and no other", async () => {
    const buffer = new ReplayBuffer(source(["a", "b"]).frames, 100);
    const gone = new AbortController();
    const first = buffer.read(buffer.join(), { ...options, signal: gone.signal });
    const second = buffer.read(buffer.join(), options);
    await first.next();
    gone.abort(new GatewayError("client_closed", "Gone."));
    await expect(first.next()).rejects.toMatchObject({ code: "client_closed" });
    expect(await textsOf(second)).toEqual(["a", "b"]);
  });

  it("holds no more than its bound for slow readers, and then admits no new reader", async () => {
    const texts = Array.from({ length: 50 }, (_, index) => String(index).padStart(10, "0"));
    const buffer = new ReplayBuffer(source(texts).frames, 100);
    const lagging = buffer.read(buffer.join(), options);
    const fast = buffer.read(buffer.join(), options);
    await lagging.next();
    expect(await textsOf(fast)).toEqual(texts);
    await expect(lagging.next()).rejects.toMatchObject({ code: "overloaded" });
    expect([buffer.isOpen, buffer.complete]).toEqual([false, undefined]);
  });
});
