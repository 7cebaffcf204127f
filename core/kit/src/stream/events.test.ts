import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ParseError } from "eventsource-parser";
import { describe, expect, it } from "vitest";
import type { UpstreamEvent } from "@sluice/contract";
import { createEventReader } from "./events.ts";

const folder = join(import.meta.dirname, "../../../../test/fixtures/openai");
const golden = readdirSync(folder)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => [name, readFileSync(join(folder, name))] as const);

function read(...chunks: readonly Uint8Array[]): UpstreamEvent[] {
  const events: UpstreamEvent[] = [];
  const reader = createEventReader(({ event, data }) => events.push({ event, data }));
  for (const chunk of chunks) reader.push(chunk);
  return events;
}

function dataOf(...texts: readonly string[]): string[] {
  return read(...texts.map((text) => Buffer.from(text))).map(({ data }) => data);
}

function cutAt(bytes: Buffer, at: number): [Buffer, Buffer] {
  return [bytes.subarray(0, at), bytes.subarray(at)];
}

/** Offsets at which a cut changes the events. */
function wrongCuts(bytes: Buffer, expected: readonly UpstreamEvent[]): number[] {
  const text = JSON.stringify(expected);
  return Array.from({ length: bytes.length + 1 }, (_, at) => at).filter(
    (at) => JSON.stringify(read(...cutAt(bytes, at))) !== text,
  );
}

describe.each(golden)("%s", (_name, bytes) => {
  const whole = read(bytes);

  it("gives an event for each data line", () => {
    const lines = bytes
      .toString()
      .split("\n")
      .filter((line) => line.startsWith("data: "));
    expect(whole.map(({ data }) => `data: ${data}`)).toEqual(lines);
  });

  it("gives the same events cut at every byte", () => {
    expect(wrongCuts(bytes, whole)).toEqual([]);
  });

  it("gives the same events one byte at a time", () => {
    expect(read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
  });

  it.each([
    ["CR LF", "\r\n"],
    ["CR", "\r"],
  ])("gives the same events with %s line ends, cut at every byte", (_end, end) => {
    const other = Buffer.from(bytes.toString().replaceAll("\n", end));
    expect(wrongCuts(other, whole)).toEqual([]);
  });
});

describe("a line with an unknown field", () => {
  it("costs no error: the parser makes one with a stack where it has a receiver", () => {
    let made = 0;
    class CountedError extends Error {
      constructor(message?: string) {
        super(message);
        made++;
      }
    }
    Object.setPrototypeOf(ParseError, CountedError);
    try {
      expect(dataOf(`${"x\n".repeat(1_000)}data: a\n\n`)).toEqual(["a"]);
      expect([made, new ParseError("", { type: "unknown-field" }) instanceof Error]).toEqual([
        0,
        true,
      ]);
      expect(made).toBe(1);
    } finally {
      Object.setPrototypeOf(ParseError, Error);
    }
  });
});

describe("an event", () => {
  it.each<[string, string, string[]]>([
    ["without a space after the colon", "data:a\n\n", ["a"]],
    ["with two spaces, one of them its own", "data:  a\n\n", [" a"]],
    ["of several data lines", "data: a\ndata: b\ndata:\n\n", ["a\nb\n"]],
    ["with comments around", ": ping\n\n:\ndata: a\n: more\n\n", ["a"]],
    ["after a byte order mark", "\uFEFFdata: a\n\n", ["a"]],
    [
      "with id, retry and unknown fields",
      "id: 7\nretry: 10\nretry: soon\nx: y\ndata: a\n\n",
      ["a"],
    ],
    ["without data", "event: ping\n\n", []],
    ["that holds a colon", 'data: {"a": "b: c"}\n\n', ['{"a": "b: c"}']],
    ["after many blank lines", "\n\n\n\ndata: a\n\n\n\n", ["a"]],
    ["with mixed line ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\n\r\n", ["a", "b", "c"]],
  ])("%s is read", (_what, text, expected) => {
    expect(dataOf(text)).toEqual(expected);
  });

  it("keeps its name", () => {
    expect(read(Buffer.from("event: error\ndata: a\n\ndata: b\n\n"))).toEqual([
      { event: "error", data: "a" },
      { event: undefined, data: "b" },
    ]);
  });

  it("keeps characters that are cut between bytes", () => {
    const bytes = Buffer.from("data: Grüße 👩‍👩‍👧 東\n\n");
    for (let at = 0; at <= bytes.length; at++)
      expect(read(...cutAt(bytes, at))).toEqual([{ event: undefined, data: "Grüße 👩‍👩‍👧 東" }]);
  });

  it("keeps what is not UTF-8 as replacement characters", () => {
    expect(read(Buffer.from("data: a"), Uint8Array.of(0xff), Buffer.from("b\n\n"))).toEqual([
      { event: undefined, data: "a\uFFFDb" },
    ]);
  });

  it("is handed on as soon as its blank line has arrived", () => {
    const events: string[] = [];
    const reader = createEventReader(({ data }) => events.push(data));
    reader.pushText("data: a\n");
    expect(events).toEqual([]);
    reader.pushText("\ndata: b");
    expect(events).toEqual(["a"]);
    reader.pushText("\n\n");
    expect(events).toEqual(["a", "b"]);
  });
});

describe("the end", () => {
  it.each([
    ["completes an event without its blank line", "data: a\n\ndata: b\n", ["a", "b"]],
    ["does so with CR LF and CR", "data: a\r\n\r\ndata: b\r", ["a", "b"]],
    ["drops an event whose last line was cut", "data: a\n\ndata: b", ["a"]],
    ["repeats nothing", "data: a\n\n", ["a"]],
    ["makes nothing of nothing", "", []],
  ])("%s", (_what, text, expected) => {
    const events: string[] = [];
    const reader = createEventReader(({ data }) => events.push(data));
    reader.pushText(text);
    reader.end();
    expect(events).toEqual(expected);
  });
});

describe("the bound of an event", () => {
  const megabyte = "x".repeat(1024 * 1024);

  function push(line: string, times: number, start = ""): void {
    const reader = createEventReader(() => undefined);
    reader.pushText(start);
    for (let count = 0; count < times; count++) reader.pushText(line);
  }

  it("is not reached by one of 7 MB", () => {
    expect(dataOf("data: ", ...Array.from({ length: 7 }, () => megabyte), "\n\n")[0]).toHaveLength(
      7 * 1024 * 1024,
    );
  });

  it.each([
    ["one line", megabyte, "data: "],
    ["many lines of data", `data: ${megabyte}\n`, ""],
  ])("refuses 9 MB in %s", (_what, line, start) => {
    expect(() => push(line, 9, start)).toThrow(
      expect.objectContaining({ code: "upstream_invalid_response" }),
    );
  });

  it("does not matter for a line that is skipped, and so not kept", () => {
    expect(() => push(megabyte, 20, ": ")).not.toThrow();
  });

  it("does not add up over events", () => {
    expect(() => push(`data: ${megabyte}\n\n`, 20)).not.toThrow();
  });
});
