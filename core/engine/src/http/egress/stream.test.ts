import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { type Frame, GatewayError, type StreamReply } from "@sluice/contract";
import { arrivedFrames, chunkFrame, rawFrame } from "@sluice/kit/internals";
import { bodyOf, exchange, GET } from "../http.fixture.ts";
import { referenceForm } from "../form/reference.ts";
import { writeStream } from "./stream.ts";

function reply(frames: AsyncIterable<Frame>): StreamReply {
  return { kind: "stream", status: 200, frames };
}

async function* framesOf(...texts: readonly string[]): AsyncGenerator<Frame, void, undefined> {
  for (const text of texts) yield rawFrame(text);
}

/** Writes a stream to a client that reads it, and returns what the client got. */
async function write(frames: AsyncIterable<Frame>, settle: () => Promise<string> = async () => "") {
  const { response, received } = await exchange(GET);
  const failure = await writeStream(
    response,
    reply(frames),
    ["x-a", "b"],
    0,
    referenceForm(),
    settle,
  );
  const raw = await received;
  return { failure, raw, body: bodyOf(raw) };
}

describe("a stream", () => {
  it("is written event by event, and ends with its end mark", async () => {
    const { failure, raw, body } = await write(framesOf('{"a":1}', '{"a":2}'));
    expect(failure).toBeUndefined();
    expect(body).toBe('data: {"a":1}\n\ndata: {"a":2}\n\ndata: [DONE]\n\n');
    expect(raw).toMatch(
      /^HTTP\/1\.1 200 OK\r\nx-a: b\r\ncontent-type: text\/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nx-accel-buffering: no\r\n/,
    );
  });

  it("writes its last frames and its end mark together when the rows are durable at once", async () => {
    const { raw } = await write(arrivedFrames([rawFrame('{"a":"é"}')]));
    expect(raw).toContain('data: {"a":"é"}\n\ndata: [DONE]\n\n\r\n0\r\n');
  });

  it("does not keep its last frames back while its rows are not durable", async () => {
    const durable = Promise.withResolvers<string>();
    const { response, client, received } = await exchange(GET);
    const flushed = once(client, "data");
    const frames = arrivedFrames([rawFrame('{"a":1}')]);
    const written = writeStream(
      response,
      reply(frames),
      [],
      0,
      referenceForm(),
      () => durable.promise,
    );
    await flushed;
    durable.resolve(": x\n\n");
    await written;
    expect(bodyOf(await received)).toBe('data: {"a":1}\n\n: x\n\ndata: [DONE]\n\n');
  });

  it("writes frames that were made, and data of several lines", async () => {
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      yield chunkFrame({ b: 1 });
      yield rawFrame('{"a":\n1}');
    }
    expect((await write(frames())).body).toBe(
      'data: {"b":1}\n\ndata: {"a":\ndata: 1}\n\ndata: [DONE]\n\n',
    );
  });

  it("that fails repeats the failure in a chunk of its own for clients that know it by that", async () => {
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      yield rawFrame('{"a":1}');
      throw new GatewayError("stream_truncated", "Cut.");
    }
    const reference = referenceForm();
    const form = {
      ...reference,
      stream: () => ({ ...reference.stream(undefined), failureAlone: () => '{"alone":"é"}' }),
    };
    const { response, received } = await exchange(GET);
    await writeStream(response, reply(frames()), [], 0, form, async () => ": é\n\n");
    const [first, last] = (await received).split(/\r\n(?:e|0)\r\n/).slice(-3);
    expect(first).toMatch(/: é\n\ndata: \{"error":.*"Cut\.".*\}\n\n$/);
    expect(last).toBe('{"alone":"é"}');
  });

  it("that fails says so in one event, has no end mark, and keeps what came before", async () => {
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      yield rawFrame('{"a":1}');
      throw new GatewayError("stream_truncated", "Cut.");
    }
    const { failure, body } = await write(frames());
    expect(failure).toMatchObject({ code: "stream_truncated" });
    expect(body).toBe(
      'data: {"a":1}\n\ndata: {"error":{"message":"Cut.","type":"upstream_error","code":502,"param":null}}\n\n',
    );
  });

  it("that fails by a plugin's fault tells nothing of it", async () => {
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      yield rawFrame('{"a":1}');
      throw new Error("secret detail");
    }
    const { failure, body } = await write(frames());
    expect(failure).toMatchObject({ code: "plugin_failed" });
    expect(body).not.toContain("secret detail");
    expect(body).not.toContain("[DONE]");
  });

  it("is settled before its end is written, whether it failed or not", async () => {
    for (const cut of [false, true]) {
      const { response, received, client } = await exchange(GET);
      let text = "";
      client.on("data", (chunk: Buffer) => (text += chunk.toString()));
      async function* frames(): AsyncGenerator<Frame, void, undefined> {
        yield rawFrame('{"a":1}');
        if (cut) throw new GatewayError("stream_truncated", "Cut.");
      }
      await writeStream(response, reply(frames()), [], 0, referenceForm(), async () => {
        while (!text.includes('{"a":1}')) await new Promise((resolve) => setImmediate(resolve));
        expect(text).not.toMatch(/\[DONE\]|error/);
        return "";
      });
      expect(await received).toMatch(cut ? /error/ : /\[DONE\]/);
    }
  });

  it("whose rows cannot be stored ends with an error", async () => {
    const { failure, body } = await write(framesOf('{"a":1}'), () =>
      Promise.reject(new GatewayError("overloaded", "Full.")),
    );
    expect(failure).toMatchObject({ code: "overloaded" });
    expect(body).toContain('"type":"overloaded_error"');
    expect(body).not.toContain("[DONE]");
  });

  it("tells its first failure, not the one of the settling", async () => {
    // oxlint-disable-next-line require-yield
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      throw new GatewayError("stream_truncated", "Cut.");
    }
    const { failure } = await write(frames(), () =>
      Promise.reject(new GatewayError("overloaded", "Full.")),
    );
    expect(failure).toMatchObject({ code: "stream_truncated" });
  });
});

describe("a client that reads slowly", () => {
  it("holds the upstream back", async () => {
    const { response, client, received } = await exchange(GET, { isPaused: true });
    const text = `"${"x".repeat(100_000)}"`;
    const total = 500;
    let taken = 0;
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      for (; taken < total; taken++) yield rawFrame(text);
    }
    const stalled = new Promise<void>((resolve) => response.setTimeout(150, () => resolve()));
    const writing = writeStream(response, reply(frames()), [], 0, referenceForm(), async () => "");
    await stalled;
    // What the kernel takes in both directions is a few megabytes; all of it would be fifty.
    expect(taken).toBeLessThan(total / 2);
    expect(response.writableLength).toBeLessThan(1_000_000);
    client.resume();
    await writing;
    expect(taken).toBe(total);
    expect((await received).endsWith("data: [DONE]\n\n\r\n0\r\n\r\n")).toBe(true);
  });

  it("and goes away ends the stream, which cleans up", async () => {
    const { response, client } = await exchange(GET, { isPaused: true });
    let isClean = false;
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      try {
        for (;;) yield rawFrame(`"${"x".repeat(100_000)}"`);
      } finally {
        isClean = true;
      }
    }
    const stalled = new Promise<void>((resolve) => response.setTimeout(50, () => resolve()));
    const writing = writeStream(response, reply(frames()), [], 0, referenceForm(), async () => "");
    await stalled;
    client.destroy();
    await writing;
    expect(isClean).toBe(true);
  });
});
