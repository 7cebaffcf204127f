import { describe, expect, it } from "vitest";
import {
  type AttemptWriter,
  type Frame,
  GatewayError,
  type StreamReply,
  type StreamTranslator,
} from "@sluice/contract";
import { createChatTranslator } from "@sluice/kit/openai";
import { fakeClock } from "@sluice/testing";
import { fakeAttempt } from "@sluice/testing";
import { batchesOf, ResponseBody } from "@sluice/kit/internals";
import { type CommitAfter, MAX_HELD_BYTES } from "./hold.ts";
import { openStream } from "./stream.ts";

const clock = fakeClock();

const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
const delta = (content: object, finish: string | null = null): string =>
  event({ id: "c", model: "m", choices: [{ index: 0, delta: content, finish_reason: finish }] });

const ROLE = delta({ role: "assistant", content: "" });
const HELLO = delta({ content: "Hello" });
const STOP = delta({}, "stop");
const USAGE = event({
  id: "c",
  model: "m",
  choices: [],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
});
const ERROR = event({ error: { message: "overloaded", type: "overloaded_error" } });
const DONE = "data: [DONE]\n\n";

interface OpenOptions {
  readonly includeUsage?: boolean;
  readonly type?: string;
  readonly commitAfter?: CommitAfter;
  readonly translator?: StreamTranslator;
}

/** An upstream whose next bytes the test decides. */
class Wire {
  readonly attempt: AttemptWriter = fakeAttempt();
  cancelled: unknown;
  readonly #body = new ResponseBody({ pause() {}, resume() {} }, (reason) => {
    this.cancelled = reason;
    this.#body.fail(reason);
  });

  say(...texts: readonly string[]): this {
    for (const text of texts) this.#body.push(Buffer.from(text));
    return this;
  }

  end(): this {
    this.#body.end();
    return this;
  }

  fail(reason: unknown): this {
    this.#body.fail(reason);
    return this;
  }

  open(options: OpenOptions = {}): Promise<StreamReply> {
    const {
      includeUsage = false,
      type = "text/event-stream; charset=utf-8",
      commitAfter,
    } = options;
    const response = { status: 200, headers: { "content-type": type }, body: this.#body };
    const { translator = createChatTranslator("m") } = options;
    const startedMs = clock.monotonic();
    const { attempt } = this;
    return openStream({
      response,
      translator,
      attempt,
      replyId: "own",
      includeUsage,
      clock,
      startedMs,
      commitAfter,
    });
  }
}

/** Reads a stream to its end or failure. */
async function drain(reply: StreamReply): Promise<{ texts: string[]; error: unknown }> {
  const texts: string[] = [];
  try {
    for await (const frame of reply.frames) texts.push(`data: ${frame.raw ?? ""}\n\n`);
    return { texts, error: undefined };
  } catch (error) {
    return { texts, error };
  }
}

const isOpen = Symbol("open");
const soon = (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    promise.then(() => "settled"),
    new Promise((resolve) => setImmediate(() => resolve(isOpen))),
  ]);

describe("priming", () => {
  it("waits past a role and an empty text for the first content", async () => {
    const wire = new Wire().say(ROLE, delta({ content: "" }));
    const opening = wire.open();
    expect(await soon(opening)).toBe(isOpen);
    wire.say(HELLO);
    await opening;
    expect(wire.attempt.firstContentAtMs).toBe(clock.now());
  });

  it.each([
    ["a text", { content: "x" }],
    ["a refusal", { refusal: "no" }],
    [
      "a tool call",
      { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] },
    ],
    ["something new", { reasoning: "hm" }],
  ])("is over with %s", async (_what, content) => {
    const { status } = await new Wire().say(ROLE, delta(content)).open();
    expect(status).toBe(200);
  });

  it("is over with a finish reason alone", async () => {
    expect(await drain(await new Wire().say(ROLE, STOP, DONE).open())).toEqual({
      texts: [ROLE, STOP],
      error: undefined,
    });
  });

  it("throws what fails before content, and drops the connection", async () => {
    const wire = new Wire().say(ROLE, ERROR);
    await expect(wire.open()).rejects.toMatchObject({
      code: "upstream_overloaded",
      retryable: true,
    });
    expect(wire.cancelled).toBeDefined();
  });

  it("throws when the stream ends without content", async () => {
    await expect(new Wire().say(ROLE).end().open()).rejects.toMatchObject({
      code: "stream_truncated",
      retryable: true,
    });
    await expect(new Wire().end().open()).rejects.toMatchObject({ code: "stream_truncated" });
  });

  it("throws the transport's failure", async () => {
    const reset = new GatewayError("upstream_unreachable", "reset");
    await expect(new Wire().say(ROLE).fail(reset).open()).rejects.toBe(reset);
  });

  it("throws for events that are not JSON, when there are more than three", async () => {
    await expect(new Wire().say("data: <html>\n\n".repeat(4)).open()).rejects.toMatchObject({
      code: "upstream_invalid_response",
    });
  });

  it("throws for a stream that says nothing", async () => {
    await expect(new Wire().say(DONE).open()).rejects.toMatchObject({
      code: "upstream_invalid_response",
    });
  });

  it.each(["application/json", "text/html", ""])(
    "throws for a reply of type %j, and drops the connection",
    async (type) => {
      const wire = new Wire().say('{"choices":[]}');
      await expect(wire.open({ type })).rejects.toMatchObject({
        code: "upstream_invalid_response",
      });
      expect(wire.cancelled).toBeDefined();
    },
  );

  it("lets an empty stream be empty", async () => {
    const reply = await new Wire().say(ROLE, DONE).open();
    expect(await drain(reply)).toEqual({ texts: [ROLE], error: undefined });
  });
});

describe("the frames", () => {
  it("are the events as they came, without the end mark", async () => {
    const wire = new Wire().say(ROLE, HELLO, STOP, DONE).end();
    expect(await drain(await wire.open())).toEqual({
      texts: [ROLE, HELLO, STOP],
      error: undefined,
    });
    expect(wire.attempt).toMatchObject({
      outcome: "success",
      error: undefined,
      endedAtMs: clock.now(),
    });
    expect(wire.cancelled).toBeUndefined();
  });

  describe("of a dialect without an end mark", () => {
    const usual = createChatTranslator("m");
    const endless = (isWhole: boolean): StreamTranslator => ({
      event: (given, sink) => usual.event(given, sink),
      end(sink) {
        if (!isWhole) return;
        sink.usage({ promptTokens: 1, completionTokens: 2, totalTokens: 3 });
        sink.done();
      },
    });

    it("end with the connection, where the dialect says that this was all", async () => {
      const wire = new Wire().say(HELLO, STOP).end();
      expect((await drain(await wire.open({ translator: endless(true) }))).error).toBeUndefined();
      expect(wire.attempt).toMatchObject({ outcome: "success", usage: { totalTokens: 3 } });
    });

    it("come with their end, where the body has ended when they are read", async () => {
      const wire = new Wire().say(HELLO, STOP).end();
      const { frames } = await wire.open({ translator: endless(true) });
      const source = batchesOf(frames);
      expect((await source.next())?.frames).toHaveLength(2);
      expect(source.isAtEnd).toBe(true);
      expect(await source.next()).toBeUndefined();
      expect(wire.attempt.outcome).toBe("success");
    });

    it("are cut where it does not, and where the connection fails", async () => {
      const cut = await drain(
        await new Wire()
          .say(HELLO)
          .end()
          .open({ translator: endless(false) }),
      );
      expect(cut.error).toMatchObject({ code: "stream_truncated" });
      const failed = new Wire().say(HELLO).fail(new GatewayError("upstream_unreachable", "gone"));
      const { error } = await failed
        .open({ translator: endless(true) })
        .then(drain, (thrown: unknown) => ({ error: thrown }));
      expect(error).toMatchObject({ code: "upstream_unreachable" });
    });
  });

  it("end with the end mark, whatever the connection does and whatever follows", async () => {
    const wire = new Wire().say(HELLO, DONE, HELLO, "data: <html>\n\n");
    expect(await drain(await wire.open())).toEqual({ texts: [HELLO], error: undefined });
    expect(wire.attempt.outcome).toBe("success");
  });

  it("hold no usage unless it was asked for; the attempt has it in any case", async () => {
    for (const includeUsage of [false, true]) {
      const wire = new Wire().say(HELLO, STOP, USAGE, DONE);
      const { texts } = await drain(await wire.open({ includeUsage }));
      expect(texts).toEqual(includeUsage ? [HELLO, STOP, USAGE] : [HELLO, STOP]);
      expect(wire.attempt.usage).toEqual({ promptTokens: 1, completionTokens: 2, totalTokens: 3 });
      expect(wire.attempt.usageSource).toBe("provider");
    }
  });

  it("are delivered before a failure that came in the same bytes", async () => {
    const wire = new Wire().say(ROLE + HELLO + ERROR);
    const { texts, error } = await drain(await wire.open());
    expect(texts).toEqual([ROLE, HELLO]);
    expect(error).toMatchObject({ code: "upstream_overloaded" });
    expect(wire.attempt).toMatchObject({
      outcome: "partial",
      error: { code: "upstream_overloaded" },
    });
    expect(wire.cancelled).toBe(error);
  });

  it("fail when the stream is cut, by an end or by a reset", async () => {
    const ended = new Wire().say(HELLO).end();
    expect((await drain(await ended.open())).error).toMatchObject({ code: "stream_truncated" });
    expect(ended.attempt.outcome).toBe("partial");
    const reset = new GatewayError("upstream_unreachable", "reset");
    const wire = new Wire().say(HELLO).fail(reset);
    expect(await drain(await wire.open())).toEqual({ texts: [HELLO], error: reset });
    expect(wire.attempt).toMatchObject({ outcome: "partial", error: reset });
  });

  it("end well when only the last blank line is missing", async () => {
    const wire = new Wire().say(HELLO, "data: [DONE]\n").end();
    expect(await drain(await wire.open())).toEqual({ texts: [HELLO], error: undefined });
  });

  it("are never made of an event that was cut", async () => {
    const wire = new Wire().say(HELLO, HELLO.slice(0, 40)).end();
    const { texts, error } = await drain(await wire.open());
    expect(texts).toEqual([HELLO]);
    expect(error).toMatchObject({ code: "stream_truncated" });
  });
});

describe("a reader that goes away", () => {
  it("settles the attempt as partial and drops the connection", async () => {
    const wire = new Wire().say(HELLO, HELLO);
    const { frames } = await wire.open();
    for await (const frame of frames) {
      expect(frame.chunk()).toMatchObject({ id: "c" });
      break;
    }
    expect(wire.attempt).toMatchObject({
      outcome: "partial",
      error: { code: "client_closed" },
      endedAtMs: clock.now(),
    });
    expect(wire.cancelled).toBeDefined();
  });

  it("does so before it has read anything", async () => {
    const wire = new Wire().say(HELLO);
    const { frames } = await wire.open();
    await (frames as AsyncGenerator<Frame>).return(undefined);
    expect(wire.attempt).toMatchObject({ outcome: "partial", error: { code: "client_closed" } });
    expect(wire.cancelled).toBeDefined();
  });

  it("after the end changes nothing", async () => {
    const wire = new Wire().say(HELLO, DONE).end();
    const reply = await wire.open();
    await drain(reply);
    await (reply.frames as AsyncGenerator<Frame>).return(undefined);
    expect(wire.attempt.outcome).toBe("success");
  });
});

describe("a stream without its end mark", () => {
  it("is whole when it has finished and reported its usage", async () => {
    const wire = new Wire().say(ROLE, HELLO, STOP, USAGE).end();
    expect(await drain(await wire.open())).toEqual({
      texts: [ROLE, HELLO, STOP],
      error: undefined,
    });
    expect(wire.attempt.outcome).toBe("success");
  });

  it.each([
    ["a finish", [ROLE, HELLO, USAGE]],
    ["a usage", [ROLE, HELLO, STOP]],
  ])("is cut without %s", async (_what, events) => {
    const { error } = await drain(
      await new Wire()
        .say(...events)
        .end()
        .open(),
    );
    expect(error).toMatchObject({ code: "stream_truncated" });
  });
});

describe("a large chunk", () => {
  it("is read in turns, so that the others have theirs", async () => {
    const wire = new Wire().say(HELLO + HELLO.repeat(10_000) + STOP + DONE).end();
    // Turns of the loop, however long each of them takes.
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const { texts } = await drain(await wire.open());
    isOver = true;
    expect(texts).toHaveLength(10_002);
    expect(turns).toBeGreaterThan(5);
  });
});

describe("a stream that is held back", () => {
  const words = (count: number): string => delta({ content: "word" }).repeat(count);

  it.each([
    ["enough tokens", { tokens: 5 }, words(4), words(1)],
    [
      "a long text, four bytes a token",
      { tokens: 5 },
      delta({ content: "x".repeat(16) }),
      delta({ content: "y" }),
    ],
    ["enough bytes", { bytes: 1_000 }, words(2), words(20)],
    ["what is reached first", { tokens: 1_000, bytes: 1_000, ms: 60_000 }, words(2), words(20)],
    [
      "its own bound",
      { ms: 60_000 },
      delta({ content: "x".repeat(MAX_HELD_BYTES / 2) }),
      delta({ content: "x".repeat(MAX_HELD_BYTES / 2) }),
    ],
    ["the end of the stream", { tokens: 1_000 }, words(2), DONE],
    ["the end of the connection", { tokens: 1_000 }, HELLO + STOP, USAGE],
  ])("is let go with %s: %j", async (what, commitAfter, before, after) => {
    const wire = new Wire().say(ROLE, before);
    const opening = wire.open({ commitAfter });
    expect(await soon(opening)).toBe(isOpen);
    wire.say(after);
    if (what === "the end of the connection") wire.end();
    const reply = await opening;
    expect(reply.status).toBe(200);
    expect(wire.attempt.outcome).toBeUndefined();
    wire.say(DONE).end();
    const { texts, error } = await drain(reply);
    expect(error).toBeUndefined();
    expect(texts.slice(0, 2)).toEqual([ROLE, before.slice(0, before.indexOf("\n\n") + 2)]);
    expect(wire.attempt.outcome).toBe("success");
  });

  it("is let go when the time is over, though nothing comes any more, and goes on afterwards", async () => {
    const wire = new Wire().say(HELLO);
    const reply = await wire.open({ commitAfter: { ms: 10 } });
    wire.say(STOP, DONE).end();
    expect(await drain(reply)).toEqual({ texts: [HELLO, STOP], error: undefined });
  });

  it.each([
    ["an error event", [ERROR], "upstream_overloaded"],
    [
      "an error event in the same piece as enough tokens",
      [words(10) + ERROR],
      "upstream_overloaded",
    ],
  ])("fails with %s, and nothing of it is left to read", async (_what, events, code) => {
    const wire = new Wire().say(HELLO, ...events);
    await expect(wire.open({ commitAfter: { tokens: 5 } })).rejects.toMatchObject({
      code,
      retryable: true,
    });
    expect(wire.cancelled).toBeDefined();
    expect(wire.attempt).toMatchObject({ firstContentAtMs: clock.now() });
    expect(wire.attempt.replyText?.texts().join("")).toContain("Hello");
  });

  it("fails when it is cut, or its connection fails", async () => {
    await expect(
      new Wire()
        .say(HELLO)
        .end()
        .open({ commitAfter: { tokens: 5 } }),
    ).rejects.toMatchObject({
      code: "stream_truncated",
      retryable: true,
    });
    const silence = new GatewayError("upstream_timeout", "silent");
    const wire = new Wire().say(HELLO);
    const opening = wire.open({ commitAfter: { tokens: 5, ms: 60_000 } });
    expect(await soon(opening)).toBe(isOpen);
    wire.fail(silence);
    await expect(opening).rejects.toBe(silence);
  });

  it("has the first content's time, not that of its release", async () => {
    const wire = new Wire().say(HELLO);
    const opening = wire.open({ commitAfter: { tokens: 2 } });
    await soon(opening);
    const { firstContentAtMs, upstreamMs } = wire.attempt;
    clock.advance(500);
    wire.say(words(3));
    await opening;
    expect(wire.attempt).toMatchObject({ firstContentAtMs, upstreamMs });
    expect(firstContentAtMs).toBe(clock.now() - 500);
  });
});
