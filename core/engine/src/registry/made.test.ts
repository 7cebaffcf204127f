import { expect, it } from "vitest";
import { made } from "./made.ts";
import { withPlace } from "./fault-place.ts";

function faultOf(instance: unknown): string | undefined {
  try {
    made(instance, "provider", "acme");
    return undefined;
  } catch (error) {
    return withPlace(error);
  }
}

it.each([
  [undefined, "returns no object"],
  [5, "returns no object"],
  [Promise.resolve({}), "returns a promise, and must return the object itself"],
  [
    { encode() {}, stream() {}, decode: "no function" },
    "returns an object without `decode`, `error`",
  ],
])("names what `create` of a plugin did not return", (instance, fault) => {
  expect(faultOf(instance)).toBe(`\`create\` of the provider acme ${fault}`);
});

it("takes an instance with the functions of its kind, own or inherited", () => {
  class Acme {
    encode() {}
    decode() {}
    stream() {}
    error() {}
  }
  expect(faultOf(new Acme())).toBeUndefined();
});
