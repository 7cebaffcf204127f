import { describe, expect, it } from "vitest";
import { base64Bytes, readBase64, readMediaUrl } from "./data-url.ts";

describe("a URL of the client", () => {
  it("stays a URL, or becomes bytes", () => {
    expect(readMediaUrl("https://example.com/a.png", "p")).toEqual({
      kind: "url",
      url: "https://example.com/a.png",
    });
    expect(readMediaUrl("data:image/PNG;name=a.png;base64,AAEC", "p")).toEqual({
      kind: "data",
      mimeType: "image/png",
      data: "AAEC",
    });
    expect(readMediaUrl("data:text/plain;base64,_-8", "p")).toEqual({
      kind: "data",
      mimeType: "text/plain",
      data: "/+8=",
    });
  });

  it.each([
    "http://10.0.0.1/a",
    "file:///etc/passwd",
    "data:image/png,abc",
    "data:;base64,AA==",
    "data:image/png;base64,A",
    "data:image/png;base64,a$b",
    "",
    7,
  ])("is refused when it is %j", (url) => {
    expect(() => readMediaUrl(url, "p")).toThrow(
      expect.objectContaining({ code: "invalid_field" }) as Error,
    );
  });

  it("holds no more bytes than the bound", () => {
    expect(() => readBase64("A".repeat(45 * 1024 * 1024), "image/png", "p")).toThrow(
      "p must be at most",
    );
    expect([base64Bytes("AAEC"), base64Bytes("AAE="), base64Bytes("AA==")]).toEqual([3, 2, 1]);
  });
});
