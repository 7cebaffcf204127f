import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { beginning } from "./beginning.ts";

/** Whether a body is JSON, read as a whole. */
function isJson(body: Buffer): boolean {
  const text = body.toString("latin1").replace(/^\u00ef\u00bb\u00bf/, "");
  return ["{", "["].includes(text.trimStart().slice(0, 1));
}

async function* from(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* chunks;
}

async function whole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Mostly white space, and the bytes of a byte order mark. */
const byte = fc.oneof(
  fc.constantFrom(0x20, 0x0a, 0xa0, 0x0c, 0xef, 0xbb, 0xbf, 0x7b, 0x5b, 0x64),
  fc.integer({ min: 0, max: 255 }),
);
const mark = fc.constantFrom<number[]>([], [0xef, 0xbb, 0xbf], [0xef, 0xbb], [0xef]);

describe("the beginning of a body", () => {
  it("is JSON or not wherever it is cut, and all of it is returned", async () => {
    await fc.assert(
      fc.asyncProperty(
        mark,
        fc.array(byte, { maxLength: 12 }),
        fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }),
        async (marked, bytes, sizes) => {
          const all = Buffer.from([...marked, ...bytes]);
          const chunks: Uint8Array[] = [];
          for (let at = 0, index = 0; at < all.length; index++) {
            const size = index < sizes.length ? sizes[index]! : 2;
            chunks.push(all.subarray(at, at + size));
            at += size;
          }
          const read = await beginning(from(chunks));
          expect(read.isJson).toBe(isJson(all));
          expect(await whole(read.body)).toEqual(all);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("is looked at once for each byte, and no further than white space may go", async () => {
    const blank = Buffer.from(" ");
    const blanks = Array.from({ length: 65_535 }, () => blank);
    for (const [before, is] of [
      [blanks, true],
      [[...blanks, blank], false],
    ] as const) {
      const read = await beginning(from([...before, Buffer.from("{}")]));
      expect(read.isJson).toBe(is);
      expect(await whole(read.body)).toHaveLength(before.length + 2);
    }
  });

  it("is no JSON where nothing follows, and the source is closed with the body", async () => {
    let isClosed = false;
    async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        yield Buffer.from("\ufeff ");
        yield Buffer.from("{");
        yield Buffer.from("}");
      } finally {
        isClosed = true;
      }
    }
    expect((await beginning(from([]))).isJson).toBe(false);
    const read = await beginning(source());
    expect(read.isJson).toBe(true);
    for await (const chunk of read.body) if (chunk.length > 0) break;
    expect(isClosed).toBe(true);
  });
});
