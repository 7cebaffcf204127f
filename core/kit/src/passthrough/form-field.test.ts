import { describe, expect, it } from "vitest";
import { formField, formTexts } from "./form-field.ts";

const TYPE = { "content-type": "multipart/form-data; boundary=b" };

interface Part {
  readonly name: string;
  readonly text: string;
  readonly more?: string;
  readonly header?: string;
}

function formOf(...parts: readonly Part[]) {
  const written = parts.map(
    ({ name, text, more = "", header = "" }) =>
      `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n${header}\r\n${text}\r\n`,
  );
  return { body: Buffer.from(`${written.join("")}--b--\r\n`), headers: TYPE };
}

describe("the texts of a form", () => {
  it("are members, also those of members and lists", () => {
    const form = formOf(
      { name: "model", text: "m" },
      { name: "file_ids[]", text: "a" },
      { name: "file_ids[]", text: "b" },
      { name: "images[0][file_id]", text: "c" },
      { name: "voice[id]", text: "d" },
      { name: "again", text: "e" },
      { name: "again", text: "f" },
      { name: "file", text: "RIFF", more: '; filename="a.wav"' },
      { name: "prompt", text: "x".repeat(5_000) },
    );
    expect(formTexts(form)).toEqual({
      model: "m",
      file_ids: ["a", "b"],
      images: { 0: { file_id: "c" } },
      voice: { id: "d" },
      again: ["e", "f"],
    });
    expect(formTexts({ body: undefined, headers: {} })).toEqual({});
  });

  it("lose the indices at the end of their names, however many", () => {
    const indices = "[1]".repeat(1_300);
    const names = ["a[0][]", "b[][x][12]", "[1][2]", "c[1]x", "d[x]", `e${indices}`];
    const texts = formTexts(formOf(...names.map((name) => ({ name, text: "t" }))));
    expect(texts).toEqual({
      a: ["t"],
      b: { x: ["t"] },
      1: ["t"],
      c: { 1: { x: "t" } },
      d: { x: "t" },
      e: ["t"],
    });
    // A pattern that looks for the end from each index takes seconds for these.
    const long = Array.from({ length: 250 }, (_, at) => ({ name: `f${at}${indices}x`, text: "t" }));
    expect(Object.keys(formTexts(formOf(...long)))).toHaveLength(250);
  });

  it("have names that change no other object", () => {
    const texts = formTexts(
      formOf(
        { name: "__proto__[file_id]", text: "x" },
        { name: "constructor[prototype][file_id]", text: "y" },
        { name: "a", text: "text" },
        { name: "a[b]", text: "z" },
      ),
    );
    expect("file_id" in {}).toBe(false);
    expect(Object.keys(texts)).toEqual(["__proto__", "constructor", "a"]);
    expect(texts.a).toEqual({ b: "z" });
  });
});

it.each<Part>([
  { name: String.raw`mo\del`, text: "dear" },
  { name: "mode%6c", text: "dear" },
  { name: "=?utf-8?B?bW9kZWw=?=", text: "dear" },
  { name: "other", text: "x", header: "content-transfer-encoding: quoted-printable\r\n" },
  { name: "other", text: "x", header: "Content-Transfer-Encoding:base64\r\n" },
])("a field that parsers read differently is refused: %o", (part) => {
  expect(() => formField(formOf({ name: "model", text: "m" }, part), "model")).toThrow("read");
});

it.each(["binary", "8bit", "7bit"])("a field without a coding is read: %s", (coding) => {
  const header = `Content-Transfer-Encoding: ${coding}\r\n`;
  expect(formField(formOf({ name: "model", text: "m", header }), "model")).toBe("m");
});

const under = (type: string) => ({
  ...formOf({ name: "model", text: "m" }),
  headers: { "content-type": type },
});

it.each([
  "multipart/form-data; charset=utf-8; boundary=b",
  "multipart/form-data; boundary=b; charset=UTF-8",
])("a form in UTF-8 is read: %s", (type) => {
  expect(formField(under(type), "model")).toBe("m");
});

it.each([
  "multipart/form-data; charset=utf-7; boundary=b",
  "multipart/form-data; boundary=b; charset=utf-16",
])("a form in another encoding is refused: %s", (type) => {
  expect(() => formField(under(type), "model")).toThrow("read");
});
