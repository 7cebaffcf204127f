import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readDocument } from "./document.ts";
import { misindentedLine } from "./indentation.ts";
import { TestFolder } from "../load.fixture.ts";

const TEXT = `version: 1
server:
  port: 4000
models:
  - id: chat
    targets:
      - { provider: alpha, model: m1 }
    fallbacks: { general: [chat-b] }
  - id: chat-b
    targets:
      - { provider: beta, model: m2 }
keys:
- alias: x
  metadata:
    note: |
      several
         lines: of
      text
`;

const FIRST = TEXT.slice(TEXT.indexOf("  - id: chat\n"), TEXT.indexOf("  - id: chat-b"));
const DEEPER = "which already has a value";
const NOTHING = "matches no line above it";
const ENDS = "continues that section";

it.each([
  ["three blanks", "    fallbacks", "   fallbacks", "8:4", NOTHING],
  ["five blanks", "    fallbacks", "     fallbacks", "8:6", NOTHING],
  ["no blank before a key with a value", "    fallbacks", "fallbacks", "8:1", ENDS],
  [
    "no blank before a key without one",
    "    targets:\n      - { provider: alpha",
    "targets:\n      - { provider: alpha",
    "6:1",
    ENDS,
  ],
  ["an entry one blank short", "  - id: chat-b", " - id: chat-b", "9:2", NOTHING],
  ["an entry at the beginning of the line", "  - id: chat-b", "- id: chat-b", "9:1", NOTHING],
  ["a key deeper than its neighbour", "  port: 4000", "  port: 4000\n    host: a", "4:5", DEEPER],
  [
    "a key deeper than a key at the beginning",
    "version: 1",
    "version: 1\n  host: a",
    "2:3",
    DEEPER,
  ],
  ["a first entry one blank deeper", FIRST, "   - { id: chat }\n", "6:3", NOTHING],
  ["a tab", "    fallbacks", "\tfallbacks", "8:1", "with a tab"],
  ["a blank of another width", "    fallbacks", "\u00a0   fallbacks", "8:1", "(U+00A0)"],
  ["a key among entries", "  - id: chat-b", "  id: chat-b", "9:3", "line 5, which is as deep"],
  ["a section without a colon", "models:", "models", "4:1", "a key has no colon"],
])("names the one line that is wrong: %s", (_name, from, to, place, message) => {
  expect(TEXT).toContain(from);
  using folder = new TestFolder();
  const { findings } = readDocument(folder.write("a.yaml", TEXT.replace(from, to)), "a.yaml");
  expect(findings.map(({ at }) => `${at.line}:${at.column}`)).toEqual([place]);
  expect(findings[0]?.message).toContain(message);
});

it("says of a key without a colon that the colon is missing", () => {
  using folder = new TestFolder();
  const { findings } = readDocument(folder.write("a.yaml", "a: 1\nb\nc: 2\n"), "a.yaml");
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatchObject({
    at: { line: 2 },
    message: expect.stringContaining("a key has no colon"),
  });
});

it("finds nothing in files that are right", () => {
  const repository = join(import.meta.dirname, "../../../../..");
  const files = [
    join(repository, "config/gateway.yaml"),
    ...readdirSync(join(repository, "pipelines")).map((name) =>
      join(repository, "pipelines", name),
    ),
  ];
  for (const text of [TEXT, ...files.map((file) => readFileSync(file, "utf8"))]) {
    expect(misindentedLine(text, 10_000)).toBeUndefined();
  }
});
