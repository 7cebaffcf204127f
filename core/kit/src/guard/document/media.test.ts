import { describe, expect, it } from "vitest";
import { familyOf, isBase64, readDataUrl } from "./media.ts";

const PICTURE = Buffer.alloc(300, 7).toString("base64");

describe("base64", () => {
  it("is one alphabet in one line, or in lines of one length", () => {
    for (const text of [
      "",
      "AAAA",
      "a-_b",
      `${PICTURE}==`,
      PICTURE.replaceAll(/(.{76})/g, "$1\r\n"),
    ])
      expect(isBase64(text)).toBe(true);
  });

  it("is nothing with blanks, with both alphabets, with words in lines or behind its end", () => {
    for (const text of [
      "some words",
      "a+_b",
      "some\nwords\nin\nlines",
      "AA==AA",
      "AAAA!",
      `${PICTURE} `,
    ])
      expect(isBase64(text)).toBe(false);
  });
});

describe("a data URL", () => {
  it("is recognised in any case and behind blanks, and nothing else is one", () => {
    expect(readDataUrl(" DATA:Image/PNG;BASE64,AAAA")).toMatchObject({
      family: "media",
      isBase64: true,
      isCommon: true,
    });
    expect(readDataUrl("data:,x")).toMatchObject({ family: "text", isBase64: false });
    expect(readDataUrl("data: this is prose")).toBeUndefined();
    expect(readDataUrl("https://example.com/data:image/png,x")).toBeUndefined();
  });

  it("is not common with words in its prefix", () => {
    for (const prefix of [
      "data:image/forbidden;base64",
      "data:image/png;forbidden words;base64",
      "data:image/png;charset=x;base64",
    ])
      expect(readDataUrl(`${prefix},AAAA`)).toMatchObject({ isCommon: false });
  });
});

describe("a type of content", () => {
  it("is a text where a model may read it as one", () => {
    expect(["text/html", "application/ld+json", "image/svg+xml", "md", ""].map(familyOf)).toEqual(
      Array(5).fill("text"),
    );
    expect(["image/png", "audio/mpeg", "video/mp4", "png", "wav"].map(familyOf)).toEqual(
      Array(5).fill("media"),
    );
    expect([undefined, "application/pdf", "docx", "image/png words"].map(familyOf)).toEqual(
      Array(4).fill("other"),
    );
  });
});
