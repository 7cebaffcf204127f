import { describe, expectTypeOf, it } from "vitest";
import type { FromSchema } from "./from-schema.ts";

const patterns = {
  type: ["string", "array"],
  items: { type: "string" },
} as const;
const section = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: { type: "string" },
    count: { type: "integer", default: 1 },
    mode: { type: "string", enum: ["on", "off"] },
    free: { type: "boolean", const: true },
    key: { type: "string", "x-secret": true },
    patterns,
    either: { anyOf: [{ type: "number" }, { type: "string", enum: ["auto"] }] },
    notes: { type: "object", default: {} },
    headers: { type: "object", additionalProperties: { type: "string" } },
    until: { type: ["string", "null"] },
    anything: { description: "Any value." },
  },
} as const;

type Section = FromSchema<typeof section>;

// The compiler proves these: `npm run typecheck` fails where one does not hold.
describe("the type of a schema", () => {
  it("has a member that is required or has a default, and may lack every other", () => {
    expectTypeOf<Section["name"]>().toEqualTypeOf<string>();
    expectTypeOf<Section["count"]>().toEqualTypeOf<number>();
    expectTypeOf<Section["free"]>().toEqualTypeOf<true | undefined>();
    expectTypeOf<Pick<Section, "mode">>().toEqualTypeOf<{ readonly mode?: "on" | "off" }>();
  });

  it("follows lists of types, alternatives, maps and open values", () => {
    expectTypeOf<Required<Section>["patterns"]>().toEqualTypeOf<string | readonly string[]>();
    expectTypeOf<Required<Section>["either"]>().toEqualTypeOf<number | "auto">();
    expectTypeOf<Section["notes"]>().toEqualTypeOf<Readonly<Record<string, unknown>>>();
    expectTypeOf<Required<Section>["headers"]>().toEqualTypeOf<Readonly<Record<string, string>>>();
    expectTypeOf<Required<Section>["until"]>().toEqualTypeOf<string | null>();
    expectTypeOf<Section["anything"]>().toEqualTypeOf<unknown>();
  });

  it("has a secret as unknown, and no member that the schema lacks", () => {
    expectTypeOf<Section["key"]>().toEqualTypeOf<unknown>();
    // @ts-expect-error -- the schema is closed.
    expectTypeOf<Section["other"]>().toEqualTypeOf<unknown>();
    expectTypeOf<
      FromSchema<{ type: "object"; properties: { use: { type: "string" } } }>["other"]
    >().toEqualTypeOf<unknown>();
  });
});
