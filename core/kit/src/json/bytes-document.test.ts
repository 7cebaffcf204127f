import { describe, expect, it } from "vitest";
import { bytesDocument, piecesDocument } from "./bytes-document.ts";

const bytes = Buffer.from('{"a": 12345678901234567890,"b":[1]}');

describe("a document of bytes", () => {
  it("hands on the bytes themselves", () => {
    expect(bytesDocument(bytes).bytes).toBe(bytes);
  });

  it("is parsed on access", () => {
    expect(bytesDocument(bytes).value.b).toEqual([1]);
  });

  it("changes one member and keeps the digits of the others", () => {
    expect(bytesDocument(bytes).with({ b: 2 }).bytes).toBe('{"a": 12345678901234567890,"b":2}');
  });

  it("of pieces is one of their sum", () => {
    const pieces = [bytes.subarray(0, 4), bytes.subarray(4)];
    const document = piecesDocument(pieces);
    expect(document.pieces).toBe(pieces);
    expect(document.bytes).toEqual(bytes);
    expect(document.value.b).toEqual([1]);
  });

  it("stays the same document when nothing changes", () => {
    const document = bytesDocument(bytes);
    expect(document.with({ c: undefined })).toBe(document);
  });
});
