import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Gathered } from "./gathered.ts";

const bytes = fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 12 });

describe("gathered bytes", () => {
  it("are the chunks one behind the other, whatever their sizes and whatever length was announced", () => {
    fc.assert(
      fc.property(bytes, fc.nat(200_000), (chunks, announced) => {
        const all = Buffer.concat(chunks);
        for (const expected of [0, all.length, announced]) {
          const gathered = new Gathered(expected);
          for (const chunk of chunks) gathered.push(chunk);
          expect(gathered.length).toBe(all.length);
          expect(Buffer.compare(gathered.take(), all)).toBe(0);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("of one chunk are that chunk", () => {
    const gathered = new Gathered();
    const chunk = Buffer.from("whole");
    gathered.push(chunk);
    expect(gathered.take()).toBe(chunk);
  });

  it("keep no memory of the reads that small chunks came in", () => {
    const gathered = new Gathered();
    for (let count = 0; count < 5_000; count += 1)
      gathered.push(new Uint8Array(65_536).fill(count, 7, 8).subarray(7, 8));
    const { buffer, byteOffset, length } = gathered.take();
    expect(length).toBe(5_000);
    // Node's pool of small buffers is as large as one read.
    expect(buffer.byteLength - byteOffset).toBeLessThanOrEqual(65_536);
  });
});
