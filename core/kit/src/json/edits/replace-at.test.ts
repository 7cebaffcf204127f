import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceAt } from "./replace-at.ts";

const name = fc.constantFrom("client", "upstream", 'a "model":"client"', '"model"');
const other = fc.oneof(name, fc.integer(), fc.constant(null));
/** Objects that say the name of the model at several places, or not at all. */
const document = fc.record(
  {
    model: other,
    response: fc.record({ model: other, text: name }, { requiredKeys: [] }),
    text: name,
    parts: fc.array(fc.record({ model: other })),
  },
  { requiredKeys: [] },
);

describe("the text of an object with another string at a path", () => {
  it("has that string there, and all else as it was", () => {
    fc.assert(
      fc.property(
        document,
        fc.constantFrom(["model"], ["response", "model"]),
        fc.constantFrom(undefined, 1),
        (value, path, indent) => {
          const text = JSON.stringify(value, undefined, indent);
          const edit = replaceAt(text, path, "client");
          const holder = (path.length === 1 ? value : value.response) as
            | { readonly model?: unknown }
            | undefined;
          const isOther = typeof holder?.model === "string" && holder.model !== "client";
          expect(edit !== undefined).toBe(isOther);
          if (edit === undefined) return;
          const expected =
            path.length === 1
              ? { ...value, model: "client" }
              : { ...value, response: { ...value.response, model: "client" } };
          expect(edit.text).toBe(JSON.stringify(expected, undefined, indent));
          expect(text.replace(edit.from, () => edit.to).length).toBe(edit.text.length);
        },
      ),
    );
  });
});
