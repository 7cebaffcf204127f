import { expect, it } from "vitest";
import { Vault } from "./vault.ts";

it("gives no placeholder that a text has already", () => {
  const vault = new Vault();
  vault.avoid(["[EMAIL_1], [[EMAIL_3]] and [EMAIL_2", "[CARD_2]"]);
  const made = ["a@b.example", "c@d.example", "a@b.example"].map((original) =>
    vault.placeholder("EMAIL", original),
  );
  expect(made).toEqual(["[EMAIL_2]", "[EMAIL_4]", "[EMAIL_2]"]);
  expect(["1", "2"].map((original) => vault.placeholder("CARD", original))).toEqual([
    "[CARD_1]",
    "[CARD_3]",
  ]);
});

it("reads the texts once, however many secrets they have", () => {
  const vault = new Vault();
  let reads = 0;
  const text = new Proxy(new String("[EMAIL_1]"), {
    get(target, name) {
      if (name === "match" || name === "includes") reads += 1;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  vault.avoid([text as unknown as string]);
  for (let serial = 0; serial < 100; serial += 1) vault.placeholder("EMAIL", `${serial}@b.example`);
  expect(reads).toBe(1);
});
