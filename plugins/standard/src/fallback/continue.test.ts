import { describe, expect, it } from "vitest";
import { GatewayError, type Frame, type Model, type Next } from "@sluice/contract";
import {
  type BatchSource,
  BatchedFrames,
  batchesOf,
  FrameBatch,
  FrameRun,
  rawFrame,
} from "@sluice/kit/internals";
import { fakeExchange, fakeHost, fakeRequest } from "@sluice/testing";
import { CUT_MARKER, continuedFrames } from "./continue.ts";
import type { StandInSearch } from "./search.ts";

const CUT = new GatewayError("stream_truncated", "Cut.");
const content = (text: string): string =>
  `{"id":"1","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]}`;

/** Frames that say these insides of JSON strings as the named member of their delta. */
function runOf(member: string, pieces: readonly string[]): FrameRun {
  const head = `{"id":"1","choices":[{"index":0,"delta":{"${member}":"`;
  const end = '"}}]}';
  const text = pieces.map((piece) => `data: ${head}${piece}${end}\n\n`).join("");
  const shape = { head, behind: [end], said: 0 };
  return new FrameRun(shape, {
    text,
    isAscii: true,
    characters: pieces.join("").length,
    pieces,
    count: pieces.length,
    end: text.length,
    lastData: "",
  });
}

interface Scripted {
  readonly batches: readonly FrameBatch[];
  readonly failure?: Error;
}

function stream({ batches, failure }: Scripted) {
  const waiting = [...batches];
  const state = { closed: 0 };
  const source: BatchSource = {
    async next() {
      const batch = waiting.shift();
      if (batch === undefined && failure !== undefined) throw failure;
      return batch;
    },
    close() {
      waiting.length = 0;
      state.closed += 1;
    },
  };
  return { frames: new BatchedFrames(source), state };
}

/** A first reply, the replies of the stand-ins after it, and what these were sent. */
function setUp(first: Scripted, others: readonly Scripted[], prefills = true) {
  const standIn: Model = {
    id: "b",
    entry: "b",
    mode: "chat",
    targets: [],
    accessGroups: [],
    ownedBy: "x",
    info: { supports: { supports_assistant_prefill: prefills } },
  };
  const request = fakeRequest({ stream: true });
  const exchange = fakeExchange({ request });
  const sent: unknown[] = [];
  const streams = [first, ...others].map(stream);
  const [beginning, ...rest] = streams as [(typeof streams)[number], ...typeof streams];
  const next: Next = async () => {
    const { messages } = exchange.request?.document.value ?? {};
    sent.push(Array.isArray(messages) ? messages.at(-1) : undefined);
    const frames: AsyncIterable<Frame> = rest.shift()?.frames ?? beginning.frames;
    exchange.reply = { kind: "stream", status: 200, frames };
  };
  let left = others.length;
  const search = {
    next: async () => (left-- > 0 ? { model: standIn, request } : undefined),
  } as unknown as StandInSearch;
  const frames = continuedFrames(
    { exchange, next, host: fakeHost(), search, request },
    beginning.frames,
  );
  return {
    batches: batchesOf(frames),
    sent,
    closed: () => streams.map(({ state }) => state.closed),
  };
}

async function all(source: BatchSource): Promise<FrameBatch[]> {
  const batches: FrameBatch[] = [];
  for (let batch = await source.next(); batch !== undefined; batch = await source.next())
    batches.push(batch);
  return batches;
}

describe("a continued stream", () => {
  it("hands on the batches of both replies as they are, and sends what the first one said", async () => {
    const first = [
      new FrameBatch([rawFrame(content("One")), runOf("content", [' \\"two\\"', " thr\\u0065e"])]),
    ];
    const second = [new FrameBatch([runOf("content", [" four"])])];
    const { batches, sent } = setUp({ batches: first, failure: CUT }, [{ batches: second }]);
    const out = await all(batches);
    expect(out).toHaveLength(2);
    expect([out[0] === first[0], out[1] === second[0]]).toEqual([true, true]);
    expect(sent).toEqual([{ role: "assistant", content: 'One "two" three' }]);
  });

  it("counts nothing but content as said", async () => {
    const first = [
      new FrameBatch([runOf("reasoning_content", ["thoughts"]), rawFrame(content("Said"))]),
    ];
    const { batches, sent } = setUp({ batches: first, failure: CUT }, [{ batches: [] }]);
    await all(batches);
    expect(sent).toEqual([{ role: "assistant", content: "Said" }]);
  });

  it("marks a new reply with the names of the last frame", async () => {
    const first = [new FrameBatch([runOf("content", ["One", " two"])])];
    const { batches } = setUp(
      { batches: first, failure: CUT },
      [{ batches: [new FrameBatch([rawFrame(content("New"))])] }],
      false,
    );
    const [, marker, last] = await all(batches);
    expect(marker?.frames.map((frame) => frame.chunk())).toMatchObject([
      { id: "1", choices: [{ delta: { content: CUT_MARKER } }] },
    ]);
    expect(last?.text()).toContain("New");
  });

  it("ends with the cut when no other model is left, or when a choice has ended", async () => {
    const last = rawFrame('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}');
    for (const [frame, others] of [
      [rawFrame(content("One")), []],
      [last, [{ batches: [] }]],
    ] as const) {
      const { batches, sent } = setUp({ batches: [new FrameBatch([frame])], failure: CUT }, others);
      await batches.next();
      await expect(batches.next()).rejects.toBe(CUT);
      expect(sent).toEqual([]);
    }
  });

  it("closes the reply that is read when it is closed", async () => {
    const second = [new FrameBatch([rawFrame(content("b"))])];
    const { batches, closed } = setUp({ batches: [], failure: CUT }, [{ batches: second }]);
    await batches.next();
    await batches.close();
    expect(closed()).toEqual([0, 1]);
  });

  it("closes a reply that is found after the client has left", async () => {
    const second = [new FrameBatch([rawFrame(content("b"))])];
    const { batches, closed } = setUp({ batches: [], failure: CUT }, [{ batches: second }]);
    const pending = batches.next();
    await Promise.resolve();
    await batches.close();
    expect(await pending).toBeUndefined();
    expect(closed()).toEqual([1, 1]);
  });
});
