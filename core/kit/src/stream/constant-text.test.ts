import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ArrivedText, ConstantText } from "./constant-text.ts";

/** A text as it arrives: its bytes may begin anywhere in memory. */
function arrived(text: string, offset: number): ArrivedText {
  const buffer = Buffer.alloc(offset + text.length);
  buffer.write(text, offset, "latin1");
  return { text, bytes: new DataView(buffer.buffer, buffer.byteOffset + offset, text.length) };
}

const ascii = fc.string({ unit: "binary-ascii", maxLength: 40 });

describe("a constant text", () => {
  it("stands where the text has it, and nowhere else", () => {
    fc.assert(
      fc.property(ascii, ascii, ascii, fc.nat({ max: 16 }), (before, text, behind, offset) => {
        const constant = new ConstantText(text);
        const whole = arrived(before + text + behind, offset);
        for (let at = 0; at <= whole.text.length; at += 1) {
          const isThere = whole.text.startsWith(text, at);
          expect(constant.isAt(whole, at)).toBe(isThere);
          expect(constant.isAt({ text: whole.text }, at)).toBe(isThere);
        }
      }),
    );
  });

  it("differs in each of its bytes", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 127 }),
        (text, change) => {
          const constant = new ConstantText(text);
          for (let at = 0; at < text.length; at += 1) {
            const changed = String.fromCharCode(text.charCodeAt(at) ^ change);
            const other = text.slice(0, at) + changed + text.slice(at + 1);
            expect(constant.isAt(arrived(other, 0), 0)).toBe(false);
          }
        },
      ),
    );
  });

  it("is found in texts beyond ASCII, and may be one", () => {
    const constant = new ConstantText('"},"naïve":"');
    expect(constant.isAt({ text: 'x"},"naïve":"y' }, 1)).toBe(true);
    expect(constant.isAt({ text: 'x"},"naive":"y' }, 1)).toBe(false);
    expect(constant.isAt(arrived('x"},"naive":"y', 0), 1)).toBe(false);
  });

  it("is not at the end of a text that has a part of it", () => {
    const constant = new ConstantText("0123456789");
    expect(constant.isAt(arrived("012345678", 0), 0)).toBe(false);
    expect(constant.isAt(arrived("a0123456789", 3), 2)).toBe(false);
  });
});
