import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { JsonValue } from "@sluice/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fixtureInput, readTables, tablePath, writeRow } from "./case-table.ts";
import { layoutJson } from "./layout.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-cases-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function table(cases: unknown, about: object = { source: "https://example.com" }): void {
  writeFileSync(join(folder, "chat.cases.json"), JSON.stringify({ ...about, cases }));
}

function file(path: string, content: string | Uint8Array): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), content);
}

const input = (title: string): Buffer => fixtureInput(pathToFileURL(`${folder}/`), title);

describe("a table of cases", () => {
  it("gives the bytes of a file as they are, and a value as JSON", () => {
    const bytes = Buffer.from([0, 255, 13, 10]);
    file("chat/stream.bin", bytes);
    table([
      { name: "stream", file: "chat/stream.bin" },
      { name: "reply-whole", given: { text: "Grüße", list: [1] } },
    ]);
    expect(input("chat/stream").equals(bytes)).toBe(true);
    expect(input("chat/reply-whole").toString()).toBe(
      '{\n  "text": "Grüße",\n  "list": [\n    1\n  ]\n}\n',
    );
    expect(() => input("chat/reply")).toThrow("chat.cases.json has no case reply.");
  });

  it.each<[unknown, string]>([
    [[], 'needs "cases"'],
    [[{ given: 1 }], 'a case needs a "name"'],
    [[{ name: "answer", given: 1 }], 'a case needs a "name"'],
    [[{ name: "reply" }], 'the case reply needs either "given" or "file"'],
    [
      [{ name: "reply", given: 1, file: "chat/x.json" }],
      'the case reply needs either "given" or "file"',
    ],
    [[{ name: "reply", file: "chat/x.json" }], "x.json, which is absent"],
    [
      [
        { name: "reply", given: 1 },
        { name: "reply", given: 2 },
      ],
      "two cases have the name reply",
    ],
  ])("with the cases %j is refused", (cases, message) => {
    table(cases);
    expect(() => readTables(folder)).toThrow(message);
  });

  it("without a source is refused", () => {
    table([{ name: "reply", given: 1 }], {});
    expect(() => readTables(folder)).toThrow('needs a "source"');
  });

  it("names every file beside it: one that no test plays is refused", () => {
    table([{ name: "reply", given: 1 }]);
    file("chat/stream-lost.sse", "data: 1\n\n");
    expect(() => readTables(folder)).toThrow("stream-lost.sse is named by no case");
  });

  it("takes a row in the place of the one with its name, and a new one as the last", () => {
    table([
      { name: "reply", given: 1, expected: 1 },
      { name: "error-400", given: 2 },
    ]);
    const path = tablePath(folder, "chat");
    writeRow(path, { name: "reply", given: 3 });
    writeRow(path, { name: "error-500", source: "recorded", given: 4 });
    expect(readTables(folder)[0]?.rows).toEqual([
      { name: "reply", given: 3 },
      { name: "error-400", given: 2 },
      { name: "error-500", source: "recorded", given: 4 },
    ]);
  });
});

describe("the layout of a table", () => {
  it("has a value on one line where it fits into 100 columns", () => {
    const value: JsonValue = {
      short: { a: [1, "two", null], none: {}, empty: [] },
      long: ["x".repeat(60), "y".repeat(60)],
    };
    const text = layoutJson(value);
    expect(text).toBe(
      [
        "{",
        '  "short": { "a": [1, "two", null], "none": {}, "empty": [] },',
        '  "long": [',
        `    "${"x".repeat(60)}",`,
        `    "${"y".repeat(60)}"`,
        "  ]",
        "}",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(text)).toEqual(value);
    const lines = (columns: number): number =>
      layoutJson(["z".repeat(columns - 4)]).split("\n").length;
    expect([lines(99), lines(100)]).toEqual([2, 4]);
  });
});
