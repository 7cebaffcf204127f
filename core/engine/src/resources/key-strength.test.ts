import { randomBytes, randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { strengthFault } from "./key-strength.ts";

it("takes random keys of 128 bits and more, in the forms that generators make", () => {
  for (let count = 0; count < 200; count += 1) {
    for (const key of [
      `sk-${randomBytes(32).toString("base64url")}`,
      `sk-${randomBytes(16).toString("base64url")}`,
      randomBytes(16).toString("hex"),
      `sk-${randomUUID()}`,
    ])
      expect([key, strengthFault(key)]).toEqual([key, undefined]);
  }
});

it.each([
  ["sk-1234", /7 characters/],
  ["sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", /bits of entropy/],
  ["sk-abcdefghijklmnopqrstuvwxyz0123456789", /bits of entropy/],
  ["sk-abcabcabcabcabcabcabcabcabcabcabcabc", /bits of entropy/],
  ["sk-12345678901234567890123456789012", /bits of entropy/],
  ["sk-7f3e7f3e7f3e7f3e7f3e7f3e7f3e7f3e", /bits of entropy/],
  ["sk-key with blanks of some length", /visible ASCII/],
  ["sk-schlüssel-mit-umlauten-und-länge", /visible ASCII/],
  ["sk-line\nbreak-0123456789abcdef-xyz", /visible ASCII/],
  [randomBytes(200).toString("base64url"), /256 are the maximum/],
  ["", /visible ASCII/],
])("refuses %j", (key, reason) => {
  expect(strengthFault(key)).toMatch(reason);
});
