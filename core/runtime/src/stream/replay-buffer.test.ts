import { describe, expect, it, vi } from "vitest";
import type { Frame } from "@sluice/contract";
import { GatewayError } from "@sluice/contract";
import {
  type BatchSource,
  BatchedFrames,
  batchesOf,
  FrameBatch,
  rawFrame,
} from "@sluice/kit/internals";
import {
  bytesFor,
  framesFor,
  replayBytes,
  type ReaderOptions,
  type ReplayBuffer,
  replayFrames,
} from "./replay-buffer.ts";

const KEPT = { maxBytes: 100, keepsRead: true };
const PASSING = { maxBytes: 100, keepsRead: false };

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

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => String(index).padStart(10, "0"));

const read = (buffer: ReplayBuffer<FrameBatch>, options?: ReaderOptions<FrameBatch>) =>
  framesFor(buffer.join(options));

async function textsOf(frames: AsyncIterable<Frame>): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  for await (const { raw } of frames) texts.push(raw);
  return texts;
}

const complete = (buffer: ReplayBuffer<FrameBatch>) =>
  buffer.complete?.flatMap(({ frames }) => frames.map(({ raw }) => raw));

describe("a replay buffer", () => {
  it("gives every reader all frames, also one that comes late", async () => {
    const buffer = replayFrames(source(["a", "b", "c"]).frames, KEPT);
    const first = read(buffer);
    await first.next();
    await first.next();
    expect(await Promise.all([textsOf(first), textsOf(read(buffer))])).toEqual([
      ["c"],
      ["a", "b", "c"],
    ]);
    expect(complete(buffer)).toEqual(["a", "b", "c"]);
  });

  it("hands on the batches in which frames arrived", async () => {
    const batches = [
      new FrameBatch([rawFrame("a"), rawFrame("b")]),
      new FrameBatch([rawFrame("c")]),
    ];
    const waiting = [...batches];
    const frames = new BatchedFrames({ next: async () => waiting.shift(), close: () => undefined });
    const buffer = replayFrames(frames, KEPT);
    const readers: BatchSource[] = [batchesOf(read(buffer)), batchesOf(read(buffer))];
    for (const batch of [...batches, undefined])
      expect(await Promise.all(readers.map((reader) => reader.next()))).toEqual([batch, batch]);
    expect(buffer.complete).toEqual(batches);
  });

  it("gives a reader its own selection", async () => {
    const buffer = replayFrames(source(["a", "b"]).frames, KEPT);
    const select = (batch: FrameBatch) => batch.without(({ raw }) => raw === "b");
    expect(await textsOf(read(buffer, { select }))).toEqual(["a"]);
    expect(await textsOf(read(buffer))).toEqual(["a", "b"]);
  });

  it("gives every reader the same failure", async () => {
    const failure = new GatewayError("stream_truncated", "Cut.");
    const buffer = replayFrames(source(["a"], failure).frames, KEPT);
    const ends = await Promise.allSettled([read(buffer), read(buffer)].map(textsOf));
    expect(ends.map((end) => (end.status === "rejected" ? (end.reason as unknown) : end))).toEqual([
      failure,
      failure,
    ]);
    expect([buffer.isOpen, buffer.complete]).toEqual([false, undefined]);
  });

  it("reports the end of each reader once, and delays it", async () => {
    const buffer = replayFrames(source(["a", "b"]).frames, KEPT);
    const onEnd = vi.fn<(error: unknown) => Promise<void>>(() => buffer.ended);
    const gone = vi.fn<(error: unknown) => void>();
    const leaving = read(buffer, { onEnd: gone });
    const staying = read(buffer, { onEnd });
    await leaving.next();
    await leaving.return();
    await leaving.return();
    expect(await textsOf(staying)).toEqual(["a", "b"]);
    await staying.return();
    expect(onEnd.mock.calls).toEqual([[undefined]]);
    expect(gone.mock.calls).toMatchObject([[{ code: "client_closed" }]]);
  });

  it("closes its source when the last reader leaves, also one that never began", async () => {
    const { frames, state } = source(["a", "b"]);
    const buffer = replayFrames(frames, KEPT);
    const first = read(buffer);
    const second = read(buffer);
    await first.next();
    await first.return();
    expect(state.isClosed).toBe(false);
    await second.return();
    expect(state.isClosed).toBe(true);
    await buffer.ended;
    expect(buffer.isOpen).toBe(false);
  });

  it("ends the reader whose signal is aborted, and no other", async () => {
    const buffer = replayFrames(source(["a", "b"]).frames, KEPT);
    const gone = new AbortController();
    const first = read(buffer, { signal: gone.signal });
    const second = read(buffer);
    await first.next();
    gone.abort(new GatewayError("client_closed", "Gone."));
    await expect(first.next()).rejects.toMatchObject({ code: "client_closed" });
    expect(await textsOf(second)).toEqual(["a", "b"]);
  });

  it("holds no more than its bound for slow readers, and then admits no new reader", async () => {
    const texts = numbered(50);
    const buffer = replayFrames(source(texts).frames, KEPT);
    const lagging = read(buffer);
    const fast = read(buffer);
    await lagging.next();
    expect(await textsOf(fast)).toEqual(texts);
    await expect(lagging.next()).rejects.toMatchObject({ code: "overloaded" });
    expect([buffer.isOpen, buffer.complete]).toEqual([false, undefined]);
  });

  it("counts bytes, and not characters", async () => {
    const buffer = replayFrames(source(["€".repeat(20), "€".repeat(20)]).frames, KEPT);
    expect(await textsOf(read(buffer))).toHaveLength(2);
    expect(buffer.complete).toBeUndefined();
  });

  it("keeps a body up to its bound", async () => {
    async function* body(pieces: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
      for (const piece of pieces) yield Buffer.from(piece);
    }
    for (const [pieces, isKept] of [
      [["a", "bc"], true],
      [numbered(11), false],
    ] as const) {
      const buffer = replayBytes(body(pieces), KEPT);
      const out: string[] = [];
      for await (const piece of bytesFor(buffer.join())) out.push(Buffer.from(piece).toString());
      expect([out, buffer.complete?.length]).toEqual([pieces, isKept ? pieces.length : undefined]);
    }
  });
});

describe("a spectator", () => {
  it("reads what the client reads, and pulls nothing", async () => {
    const { frames, state } = source(["a", "b"]);
    const buffer = replayFrames(frames, PASSING);
    const seen = textsOf(read(buffer, { isSpectator: true }));
    const client = read(buffer);
    await client.next();
    expect(state.given).toBe(1);
    await client.next();
    await client.next();
    expect(await seen).toEqual(["a", "b"]);
  });

  it("that falls behind the bound fails alone", async () => {
    const texts = numbered(20);
    const buffer = replayFrames(source(texts).frames, PASSING);
    const spectator = read(buffer, { isSpectator: true });
    expect(await textsOf(read(buffer))).toEqual(texts);
    await expect(spectator.next()).rejects.toThrow("fell behind");
  });

  it("keeps up with a stream of any length when it reads along", async () => {
    const texts = numbered(200);
    const buffer = replayFrames(source(texts).frames, PASSING);
    const seen = textsOf(read(buffer, { isSpectator: true }));
    expect(await textsOf(read(buffer))).toEqual(texts);
    expect(await seen).toEqual(texts);
  });

  it("fails when the client leaves, and does not hold the stream open", async () => {
    const { frames, state } = source(["a", "b"]);
    const buffer = replayFrames(frames, PASSING);
    const spectator = read(buffer, { isSpectator: true });
    const client = read(buffer);
    await client.next();
    await client.return();
    expect(state.isClosed).toBe(true);
    await spectator.next();
    await expect(spectator.next()).rejects.toThrow("The client left the stream.");
  });

  it("that leaves ends its own wait, and the stream goes on", async () => {
    const buffer = replayFrames(source(["a", "b"]).frames, PASSING);
    const spectator = read(buffer, { isSpectator: true });
    const waiting = spectator.next();
    await spectator.return();
    expect(await waiting).toMatchObject({ done: true });
    expect(await textsOf(read(buffer))).toEqual(["a", "b"]);
  });
});
