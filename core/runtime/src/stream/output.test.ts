import { describe, expect, it } from "vitest";
import type { JsonObject, ProviderRequest, StreamTranslator } from "@sluice/contract";
import { FrameBatch, FrameRun, Relay } from "@sluice/kit/internals";
import { createStreamTranslator, readJsonEvent } from "@sluice/kit/dialect";
import { Compatible, createChatTranslator } from "@sluice/kit/openai";
import { amount, fakeAttempt, fakeClock, requestOf } from "@sluice/testing";
import { StreamOutput } from "./output.ts";
import { createFormedReader } from "./reader.ts";

const request: ProviderRequest = {
  ...requestOf(
    { model: "m", messages: [] },
    { provider: "p", model: "m", operation: "chat", stream: true },
  ),
  replyModel: "asked",
};

const HEAD = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m-2024" };
const chunk = (members: object, head: object = HEAD): string =>
  JSON.stringify({ ...head, ...members });
const delta = (content: object, more: object = {}): string =>
  chunk({ choices: [{ index: 0, delta: content, finish_reason: null }], usage: null, ...more });
const words = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => delta({ content: ` word${at}` }));
const events = (list: readonly string[], end = "\n\n"): string =>
  list.map((data) => `data: ${data}${end}`).join("");
const STOP = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: null });
const USAGE = chunk({
  choices: [],
  usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 },
});
const ROLE = delta({ role: "assistant", content: "" });
const whole = (list: readonly string[]): string[] => [ROLE, ...list, STOP, USAGE, "[DONE]"];
const spaced = (data: string): string =>
  JSON.stringify(JSON.parse(data), undefined, 1).replaceAll("\n", " ");

/** Streams that are read alike, whether their events are taken together or one by one. */
const STREAMS: Readonly<Record<string, string>> = {
  words: events(whole(words(12))),
  "line ends of two characters": events(whole(words(6)), "\r\n\r\n"),
  "line ends of one carriage return": events(whole(words(4)), "\r\r"),
  "line ends that change":
    events(whole(words(4)).slice(0, 4)) + events(words(3), "\r\n\r\n") + events([STOP, "[DONE]"]),
  "white space in the JSON": events(
    whole(words(5)).map((data) => (data === "[DONE]" ? data : spaced(data))),
  ),
  "no space behind the colon": events(whole(words(5))).replaceAll("data: ", "data:"),
  "comments between events and in them": events(whole(words(5))).replaceAll(
    "data: ",
    ": ping\n\n: x\ndata: ",
  ),
  "named and numbered events": events(whole(words(5))).replaceAll(
    "data: ",
    "event: chunk\nid: 4\ndata: ",
  ),
  "an event that only has a name": events(words(3)) + "event: ping\n\n" + events(whole(words(3))),
  "data of several lines": events(whole(words(3))).replaceAll(',"choices"', ',\ndata: "choices"'),
  "a byte order mark": `\ufeff${events(whole(words(3)))}`,
  "texts of every kind": events(
    whole(
      [
        "\\",
        '"',
        '\\"',
        "é",
        "漢字",
        "👋",
        '","content":"x',
        "\n\ndata: {}",
        "}",
        "[DONE]",
        "usage",
        '"error"',
        " ",
      ].map((content) => delta({ content })),
    ),
  ),
  "escapes that are longer than they need to be":
    events(words(3)) + events([delta({ content: "é" }).replace("é", "\\u00e9"), ...words(2)]),
  "a text that stands in its event twice": events([
    ROLE,
    delta({ content: "stop" }),
    delta({ content: "m-2024" }),
    ...whole(words(3)),
  ]),
  "an empty text in the middle": events([...words(3), delta({ content: "" }), ...whole(words(2))]),
  "a text without an end": `${events(words(3))}data: {"choices":[{"delta":{"content":"abc\n\n${events(whole(words(3)))}`,
  "a text with an unescaped tab": events([
    ...words(3),
    delta({ content: "\t" }).replace("\\t", "\t"),
    ...whole(words(2)),
  ]),
  "an unknown escape": events([
    ...words(3),
    delta({ content: "q" }).replace('"q"', '"\\q"'),
    ...whole(words(2)),
  ]),
  padding: events(
    whole(
      words(5).map((data, at) => data.replace(/\}$/, `,"obfuscation":"${"x".repeat(at + 1)}"}`)),
    ),
  ),
  ...Object.fromEntries(
    ["\\n", "\\u0041", "\\q", "\t", "\u007f", "ä", "😀", ""].map((odd) => [
      `padding with ${JSON.stringify(odd)} in the middle`,
      events(
        whole(
          words(6).map((data, at) =>
            data.replace(/\}$/, `,"obfuscation":"${at === 3 ? odd : "x".repeat(at + 1)}"}`),
          ),
        ),
      ),
    ]),
  ),
  "padding that comes first": events(
    whole(
      words(5).map((data, at) => data.replace(/^\{/, `{"obfuscation":"${"x".repeat(at + 1)}",`)),
    ),
  ),
  "two choices in turn": events(
    whole(words(6).map((data, at) => data.replace('"index":0', `"index":${at % 2}`))),
  ),
  "thoughts, then words": events(
    whole([
      ...words(3).map((data) => data.replace('"content"', '"reasoning_content"')),
      ...words(4),
    ]),
  ),
  "thoughts by another name": events(
    whole([...words(3).map((data) => data.replace('"content"', '"reasoning"')), ...words(4)]),
  ),
  "another id in the middle": events(
    whole([...words(3), ...words(3).map((data) => data.replace('"c1"', '"c2"')), ...words(2)]),
  ),
  "a usage with every word": events(
    whole(
      words(5).map((data, at) =>
        data.replace(
          '"usage":null',
          `"usage":{"prompt_tokens":3,"completion_tokens":${at},"total_tokens":${at + 3}}`,
        ),
      ),
    ),
  ),
  "a usage with the last word": events([
    ...words(4),
    words(1)[0]!.replace(
      '"usage":null',
      '"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}',
    ),
    STOP,
    "[DONE]",
  ]),
  "no usage": events([ROLE, ...words(6), STOP, "[DONE]"]),
  "no finish reason": events([ROLE, ...words(12), "[DONE]"]),
  "a finish of another choice, long before": events([
    ROLE,
    ...words(2),
    STOP,
    ...words(12).map((data) => data.replace('"index":0', '"index":1')),
    "[DONE]",
  ]),
  "an error in the middle": events([
    ...words(4),
    chunk({ error: { message: "busy", type: "overloaded_error" } }),
    ...words(4),
  ]),
  "an error by name": `${events(words(4))}event: error\n${events(words(1))}${events(words(4))}`,
  "an end in the middle": events([...words(3), STOP, "[DONE]", ...words(3)]),
  "no end": events(words(5)),
  "an event that is cut at the end": events(words(5)).slice(0, -20),
  "unreadable events": events([...words(3), "<html>", ...words(2), '{"cut":', ...whole(words(2))]),
  calls: events(
    whole([
      ...words(2),
      delta({
        tool_calls: [
          { index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } },
        ],
      }),
      ...["{", '"a":', "1}"].map((text) =>
        delta({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
      ),
    ]),
  ),
  "calls without an index": events(
    whole([
      ...words(2),
      ...["a", "b"].map((id) =>
        delta({ tool_calls: [{ id, type: "function", function: { name: id, arguments: "{}" } }] }),
      ),
    ]),
  ),
  "no names":
    events(
      words(6).map((data) => JSON.stringify({ choices: (JSON.parse(data) as JsonObject).choices })),
    ) + events([STOP, "[DONE]"]),
  "words with a call beside": events(
    whole(words(4).map((data) => data.replace('"content"', '"tool_calls":[],"content"'))),
  ),
};

interface Played {
  readonly frames: readonly unknown[];
  readonly record: object;
  readonly runs: number;
}

type Make = () => StreamTranslator;

/**
 * Reads a stream in pieces. `mayRun`: events of one form are taken together. `relay`: they also go
 * on as they came.
 */
function play(make: Make, pieces: readonly Uint8Array[], mayRun: boolean, relay?: Relay): Played {
  const attempt = fakeAttempt();
  const translator = make();
  const output = new StreamOutput({
    translator,
    attempt,
    replyId: "own",
    includeUsage: true,
    clock: fakeClock(),
    startedMs: 0,
    relay,
  });
  output.mayRun = mayRun;
  const reader = createFormedReader("text/event-stream", undefined, output)!;
  let error: unknown;
  try {
    for (const piece of pieces) reader.push(piece);
    reader.end();
    if (!output.isDone) translator.end?.(output);
  } catch (thrown) {
    error = (thrown as Error).message;
  }
  const { isDone, isFinished } = output;
  const items = output.take();
  const batch = new FrameBatch(items);
  const frames = batch.frames.map((frame) => value(frame.raw ?? JSON.stringify(frame.chunk())));
  const last =
    batch.last === undefined ? [] : [value(batch.last.raw ?? JSON.stringify(batch.last.chunk()))];
  expect(JSON.stringify([play.read(batch.text()), last])).toBe(
    JSON.stringify([frames, frames.slice(-1)]),
  );
  const { usage, droppedEvents, completionId } = attempt;
  const texts = attempt.replyText?.texts();
  return {
    frames,
    record: {
      error,
      isDone,
      isFinished,
      usage,
      droppedEvents,
      completionId,
      texts,
      scale: attempt.replyText?.scale,
    },
    runs: items.filter((item) => item instanceof FrameRun).length,
  };
}

/** What a client reads of server-sent events. */
play.read = (text: string): unknown[] =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => value(event.replaceAll(/^data: /gm, "")));

/** The value of a frame's text; the text itself where it is no JSON. */
function value(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const cut = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );

const MAKES: Readonly<Record<string, Make>> = {
  "of the reference dialect": () => createChatTranslator("asked", request),
  "of the reference dialect, without an identity": () => createChatTranslator("asked"),
  "of a nearly compatible upstream": () => Compatible.createTranslator(request),
  "of another dialect": () =>
    createStreamTranslator(request, (writer) => ({ data }) => {
      if (data === "[DONE]") return writer.done();
      const { choices } = readJsonEvent(data);
      const [choice] = (choices ?? []) as readonly JsonObject[];
      const text = (choice?.delta as JsonObject | undefined)?.content;
      if (typeof text === "string")
        writer.text(text, { texts: [["choices", 0, "delta", "content"]] });
      if (choice?.finish_reason === "stop") writer.finish("stop", { stop: "stop" });
    }),
};

describe.each(Object.entries(MAKES))("a stream %s", (name, make) => {
  it.each(Object.entries(STREAMS))(
    "with %s says the same in runs, wherever it is cut",
    (_what, text) => {
      const bytes = Buffer.from(text);
      const wanted = play(make, [bytes], false);
      expect(wanted.runs).toBe(0);
      const wantedText = JSON.stringify([wanted.frames, wanted.record]);
      const check = (pieces: readonly Uint8Array[]): void => {
        const { frames, record } = play(make, pieces, true);
        expect(JSON.stringify([frames, record])).toBe(wantedText);
      };
      check([bytes]);
      for (const cuts of [[bytes], cut(bytes, 333)]) {
        const relay = new Relay({ dialect: "own", model: "asked", modelAt: [["model"]] });
        const { frames, record } = play(make, cuts, true, relay);
        expect(JSON.stringify([frames, record])).toBe(wantedText);
      }
      // Each cut plays the whole stream: the longer ones are cut at every third byte, and the other
      // translators' seldom.
      const step = amount(
        name === "of the reference dialect" ? 11 : 29,
        name !== "of the reference dialect" ? 29 : bytes.length < 1_500 ? 1 : 3,
      );
      for (let at = 1; at < bytes.length; at += step)
        check([bytes.subarray(0, at), bytes.subarray(at)]);
      for (const size of [1, 7, 100, 333]) check(cut(bytes, size));
    },
  );
});

describe("events of one form", () => {
  it.each(Object.entries(MAKES))("are taken together, %s", (_name, make) => {
    expect(play(make, [Buffer.from(STREAMS["words"]!)], true).runs).toBe(1);
    expect(play(make, cut(Buffer.from(STREAMS["words"]!), 200), true).runs).toBeGreaterThan(0);
  });

  it.each([
    "line ends of two characters",
    "padding",
    "padding that comes first",
    "thoughts, then words",
  ])("are taken together with %s", (name) => {
    expect(
      play(MAKES["of the reference dialect"]!, [Buffer.from(STREAMS[name]!)], true).runs,
    ).toBeGreaterThan(0);
  });

  it("are taken together from the second word on", () => {
    const text = events([ROLE, ...words(2), STOP, USAGE, "[DONE]"]);
    expect(play(MAKES["of the reference dialect"]!, [Buffer.from(text)], true).runs).toBe(1);
  });

  it("are taken together from the first word on, where the gateway writes the role", () => {
    const text = events([...words(2), STOP]);
    const relay = new Relay({ dialect: "own", model: "asked", modelAt: [["model"]] });
    const make = MAKES["of another dialect"]!;
    expect(play(make, [Buffer.from(text)], true).runs).toBe(1);
    expect(play(make, [Buffer.from(text)], true, relay).runs).toBe(1);
    expect(relay.take()?.text).toBe(text.replaceAll("m-2024", "asked"));
  });

  it("are taken together where one of them is cut", () => {
    const bytes = Buffer.from(events(whole(words(12))));
    const inEvent = bytes.indexOf(" word8");
    const { runs, frames } = play(
      MAKES["of the reference dialect"]!,
      [bytes.subarray(0, inEvent), bytes.subarray(inEvent)],
      true,
    );
    expect(runs).toBe(2);
    expect(frames).toHaveLength(whole(words(12)).length - 1);
  });

  it("are learnt a few times in vain, and then no more", () => {
    const list = Array.from({ length: 400 }, (_, at) => delta({ content: ` w${at}` }, { seq: at }));
    let lessons = 0;
    const make = (): StreamTranslator => {
      const inner = createChatTranslator("asked", request);
      return {
        event(event, sink) {
          if (sink.takesForm === true) lessons++;
          inner.event(event, sink);
        },
      };
    };
    expect(play(make, [Buffer.from(events(whole(list)))], true).frames).toHaveLength(403);
    expect(lessons).toBeLessThan(20);
  });

  it("are not taken together by a translator that keeps what it reads", () => {
    let seen = 0;
    const make = (): StreamTranslator => {
      const inner = createChatTranslator("asked", request);
      return {
        event(event, sink) {
          seen++;
          inner.event(event, {
            committed: sink.committed,
            frame: (...frame) => sink.frame(...frame),
            usage() {},
            done() {},
          });
        },
      };
    };
    play(make, [Buffer.from(STREAMS["words"]!)], true);
    expect(seen).toBe(16);
  });
});
