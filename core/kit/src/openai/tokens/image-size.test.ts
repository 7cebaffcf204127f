import { describe, expect, it } from "vitest";
import { imageSizeOf } from "./image-size.ts";
import { imageTokens } from "@sluice/runtime/openai";

const url = (type: string, hex: string): string =>
  `data:image/${type};base64,${Buffer.from(hex.replaceAll(" ", ""), "hex").toString("base64")}`;
const riff = "52494646 00000000 57454250";

describe("the size of an image in a data URL", () => {
  it.each([
    [
      "PNG",
      url("png", "89504e47 0d0a1a0a 0000000d 49484452 00000320 00000258"),
      { width: 800, height: 600 },
    ],
    ["GIF", url("gif", "47494638 3961 2003 5802 00000000"), { width: 800, height: 600 }],
    [
      "JPEG behind its metadata",
      url("jpeg", `ffd8 ffe0 0010 ${"00".repeat(14)} ffc0 0011 08 0258 0320 03 ${"00".repeat(9)}`),
      { width: 800, height: 600 },
    ],
    [
      "WebP, lossy",
      url("webp", `${riff} 56503820 00000000 000000 9d012a 2003 5802`),
      { width: 800, height: 600 },
    ],
    [
      "WebP, lossless",
      url("webp", `${riff} 5650384c 00000000 2f 1fc39500 000000`),
      { width: 800, height: 600 },
    ],
    [
      "WebP, extended",
      url("webp", `${riff} 56503858 0a000000 00000000 1f0300 570200`),
      { width: 800, height: 600 },
    ],
  ])("is read from the header of a %s", (_kind, image, size) => {
    expect(imageSizeOf(image)).toEqual(size);
  });

  it.each([
    "https://example.com/a.png",
    "data:image/png;base64,",
    "data:image/png,raw",
    "data:text/plain;base64,iVBORw0KGgo=",
    url("png", "89504e47 0d0a1a0a 0000000d"),
    url("png", "89504e47 0d0a1a0a 0000000d 49484452 00000000 00000000"),
    url("jpeg", "ffd8 ffe0 0010 0000 0000 0000 0000"),
    url("jpeg", `ffd8 ${"ff".repeat(40)}`),
    url("webp", `${riff} 58585858 00000000`),
  ])("is unknown where it cannot be read: %s", (image) => {
    expect(imageSizeOf(image)).toBeUndefined();
  });
});

describe("the tokens of an image", () => {
  it.each([
    // The examples of the reference API's documentation.
    [{ width: 1_024, height: 1_024 }, "high", 765],
    [{ width: 2_048, height: 4_096 }, "high", 1_105],
    [{ width: 4_096, height: 8_192 }, "low", 85],
    [{ width: 100, height: 100 }, undefined, 255],
    [{ width: 1, height: 100_000 }, "high", 765],
  ])("of %j in detail %s are %d", (size, detail, tokens) => {
    expect(imageTokens(size, detail)).toBe(tokens);
  });
});
