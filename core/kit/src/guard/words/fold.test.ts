import { describe, expect, it } from "vitest";
import { foldText } from "./fold.ts";

describe("folding", () => {
  it.each([
    ["Plain ASCII", "plain ascii"],
    ["ＦＵＬＬ　１２", "full 12"],
    ["Ünïcodé", "unicode"],
    ["e\u0301\u0302", "e"],
    ["\u0430\u0440\u0440le", "apple"],
    ["𝒜𝓁𝓅𝒽𝒶", "alpha"],
    ["ﬁne ①½", "fine 11\u20442"],
    ["a\u200b\u200d\u00ad\ufeffb", "ab"],
    ["ＡＤＭＩＮ", "admin"],
    ["Straße", "strasse"],
    ["안녕", "안녕"],
    ["١٢٣", "123"],
    ["\u{1F600}x", "\u{1F600}x"],
    ["\ud83d", "\ud83d"],
    ["", ""],
  ])("%s", (text, folded) => {
    expect(foldText(text).text).toBe(folded);
  });

  it("keeps capitals where they matter, those of look-alikes too", () => {
    expect(foldText("\u0410b\u0421 É", { lowerCase: false }).text).toBe("AbC E");
  });

  it("leads back to the original", () => {
    const text = "x\u200b\u{1D41A}\u200bﬁ!";
    const folded = foldText(text);
    expect(folded.text).toBe("xafi!");
    expect([folded.start(1), folded.end(2)]).toEqual([2, 4]);
    expect(text.slice(folded.start(2), folded.end(3))).toBe("ﬁ");
    expect(text.slice(folded.start(0), folded.end(5))).toBe(text);
  });

  it("reads the escapes of JSON where a text is JSON", () => {
    const text = String.raw`{"a":"x\nAda\"\\n\u0000y"}`;
    const folded = foldText(text, { isJson: true });
    expect(folded.text).toBe('{"a":"x ada"\\n\0y"}');
    expect(text.slice(folded.start(8), folded.end(11))).toBe("Ada");
    expect(text.slice(folded.start(7), folded.end(8))).toBe(String.raw`\n`);
    expect(foldText("\\".repeat(9) + "nada", { isJson: true }).text).toBe("\0ada");
    expect(foldText("a\\", { isJson: true }).text).toBe("a\0");
  });

  it("makes a break of many invisible characters in a row", () => {
    expect(foldText(`a${"\u200b".repeat(8)}b`).text).toBe("ab");
    expect(foldText(`a${"\u200b".repeat(9)}b`).text).toBe("a\0b");
    expect(foldText(`a${"\u200b".repeat(30)}b`).text).toBe("a\0\0\0b");
  });
});
