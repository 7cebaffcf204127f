import { FrameBatch } from "@sluice/kit/internals";
import { describe, expect, it } from "vitest";
import { CompletedRelayForm, RelayForm } from "./relayed.ts";

const writer = { failure: () => "" };
const batch = (text: string, end: string): FrameBatch =>
  new FrameBatch([], { dialect: "own", text, end, isAscii: /^[\0-\x7f]*$/.test(text) });

describe("the form of a relayed stream", () => {
  it("keeps an end back, and writes one that is too long behind the text of its batch", () => {
    const form = new RelayForm(writer, 8);
    const first = batch("first", "end ä");
    expect([form.text(first), form.isAscii(first)]).toEqual(["first", true]);
    const second = batch("second", "更 long");
    expect(form.text(second)).toBe("secondend ä更 long");
    // The end has characters beyond ASCII, which the batch does not speak of.
    expect(form.isAscii(second)).toBe(false);
    const third = batch("", "rest");
    expect([form.text(third), form.isAscii(third), form.end()]).toEqual(["", true, "rest"]);
  });

  it("does the same where the gateway adds to the events", () => {
    const relay = {
      reply: (reply: object) => reply as never,
      shown: (reply: object) => reply as never,
      events: (text: string) => `<${text}>`,
      last: () => undefined,
      end: (end: string) => `<${end}>`,
      failure: () => "",
    };
    const form = new CompletedRelayForm(relay, undefined);
    const long = batch("text", "ä".repeat(64 * 1024 * 1024 + 1));
    expect(form.text(long).slice(0, 7)).toBe("<textää");
    expect(form.isAscii(long)).toBe(false);
    const edited = batch("text", "");
    expect([form.text(edited), form.isAscii(edited)]).toEqual(["<text>", false]);
    expect(form.end()).toBe("<>");
  });
});
