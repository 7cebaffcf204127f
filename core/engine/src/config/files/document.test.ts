import { describe, expect, it } from "vitest";

import {
  readDocument,
  readInPieces,
  type ConfigDocument,
  type KnownDocuments,
} from "./document.ts";
import { atOnce } from "./slices.ts";
import { diskSource, MAX_FILE_BYTES } from "./source.ts";
import { TestFolder } from "../load.fixture.ts";

function read(text: string | Uint8Array): ReturnType<typeof readDocument> {
  using folder = new TestFolder();
  return readDocument(folder.write("a.yaml", text), "a.yaml");
}

function place(
  document: ConfigDocument | undefined,
  on: "keyAt" | "valueAt",
  path: readonly (string | number)[],
): string | undefined {
  const at = document?.[on](path);
  return at === undefined ? undefined : `${at.line}:${at.column}`;
}

describe("reading a document", () => {
  it("knows where keys, values and items stand", () => {
    const { document } = read(
      "# first\none:\n  two: [a, { three: b }]\nlist:\n  - x: 1\n    y: 2\n",
    );
    expect(place(document, "keyAt", ["one"])).toBe("2:1");
    expect(place(document, "keyAt", ["one", "two"])).toBe("3:3");
    expect(place(document, "valueAt", ["one", "two"])).toBe("3:8");
    expect(place(document, "valueAt", ["one", "two", 1, "three"])).toBe("3:21");
    expect(place(document, "keyAt", ["list", 0])).toBe("5:5");
    expect(place(document, "valueAt", ["list", 0, "y"])).toBe("6:8");
  });

  it("points at the parent of what is missing", () => {
    const { document } = read("# first\none:\n  two: 3\n");
    expect(place(document, "keyAt", ["one", "absent"])).toBe("2:1");
    expect(place(document, "valueAt", ["one", "two", "deeper"])).toBe("3:3");
    expect(place(document, "valueAt", ["absent"])).toBe("2:1");
  });

  it("finds its way through an alias", () => {
    const { document } = read("a: &a { x: 1 }\nb: *a\n");
    expect(document?.value).toEqual({ a: { x: 1 }, b: { x: 1 } });
    expect(place(document, "valueAt", ["b", "x"])).toBe("1:12");
    expect(place(document, "keyAt", ["b"])).toBe("2:1");
  });

  it("keeps a key named like a prototype's as data", () => {
    const { document } = read("__proto__: { port: 1 }\n");
    expect(Object.keys(document?.value as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["port"]).toBeUndefined();
  });

  it("reads words of older YAML as text", () => {
    expect(read("a: yes\nb: 0777\nc: 1_000\nd: 12:30\n").document?.value).toEqual({
      a: "yes",
      b: 777,
      c: "1_000",
      d: "12:30",
    });
  });

  it("parses a file again when its text is another one", () => {
    using folder = new TestFolder();
    const known: KnownDocuments = new Map();
    const read = (text: string) =>
      atOnce(readInPieces(folder.write("a.yaml", text), "a.yaml", diskSource, known));
    const first = read("a: 1\n");
    expect(read("a: 1\n")).toBe(first);
    expect(read("a: 2\n").document?.value).toEqual({ a: 2 });
    expect(read("a: [\n")).toBe(read("a: [\n"));
    expect(read("a: 1\n").document?.value).toEqual({ a: 1 });
  });

  it("refuses a file beyond the limit, a file that is not text and a file that is not there", () => {
    expect(read(new Uint8Array(MAX_FILE_BYTES + 1)).findings[0]?.message).toContain(
      "are the limit",
    );
    expect(read(new Uint8Array([0x61, 0xff, 0xfe])).findings[0]?.message).toBe(
      "the file is not UTF-8 text",
    );
    expect(readDocument("/nowhere/a.yaml", "a.yaml").findings[0]?.message).toBe(
      "the file cannot be read: there is no such file",
    );
  });

  it("reports every syntax error of a file", () => {
    expect(read("a: 1\na: 2\nb: 3\nb: 4\n").findings.map(({ at }) => at.line)).toEqual([2, 4]);
  });
});
