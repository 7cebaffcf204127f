import fc from "fast-check";
import { expect, it } from "vitest";
import { SoughtForm } from "./sought-form.ts";

it("is found where a search for all of its bytes finds it", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "e", "Z", "7", "-"), maxLength: 40 });
  const form = fc.string({
    unit: fc.constantFrom("a", "e", "Z", "7", "-"),
    minLength: 4,
    maxLength: 9,
  });
  fc.assert(
    fc.property(letters, form, letters, fc.nat(50), (before, text, behind, from) => {
      const bytes = Buffer.from(before + text + behind);
      expect(new SoughtForm(text).placeIn(bytes, from)).toBe(bytes.indexOf(text, from));
    }),
    { numRuns: 2_000 },
  );
});

it.each(["sk-upstream", "AIzaSyD-9tSrke72PouQMnMX", "Schlüssel-€"])("%s is found", (text) => {
  const bytes = Buffer.from(`{"a":"${text.slice(0, -1)}","b":"${text}"}`);
  expect(new SoughtForm(text).placeIn(bytes, 0)).toBe(bytes.indexOf(text));
});
