import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base64ToFloats, floatsToBase64 } from "./format.ts";

describe("the formats of a vector", () => {
  it("are the ones that the SDKs read: little-endian float32", () => {
    expect(floatsToBase64([1, -2, 0.5])).toBe("AACAPwAAAMAAAAA/");
    expect(base64ToFloats("AACAPwAAAMAAAAA/")).toEqual([1, -2, 0.5]);
  });

  it("keep every bit of a float32, there and back", () => {
    fc.assert(
      fc.property(fc.float32Array({ noNaN: true, noDefaultInfinity: true }), (vector) => {
        const text = floatsToBase64([...vector]);
        const numbers = base64ToFloats(text);
        // As a client gets them: written as JSON and read again.
        const received = JSON.parse(JSON.stringify(numbers)) as number[];
        const bits = (of: Float32Array) => [
          ...new Uint32Array(of.buffer, of.byteOffset, of.length),
        ];
        const expected = vector.map((value) => (Object.is(value, -0) ? 0 : value));
        expect(bits(Float32Array.from(received))).toEqual(bits(expected));
        expect(floatsToBase64(numbers ?? [])).toBe(text);
      }),
    );
  });

  it("round a double to the nearest float32", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1e30, max: 1e30, noNaN: true })), (vector) => {
        expect(base64ToFloats(floatsToBase64(vector))).toEqual(vector.map(Math.fround));
      }),
    );
  });

  it.each([
    ["three bytes", "AAAA"],
    ["characters that are no base64", "AAC*PwAAAMAAAAA/"],
    ["white space", "AACAPw AAAMAAAAA/ "],
    ["not a number", floatsToBase64([Number.NaN])],
    ["infinity", floatsToBase64([Infinity])],
  ])("do not exist for %s", (_name, text) => {
    expect(base64ToFloats(text)).toBeUndefined();
  });
});
