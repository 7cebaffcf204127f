import { describe, expect, it } from "vitest";
import { API_VERSION } from "@sluice/contract";
import { defineGuardrail, defineProvider, defineStep, defineStore } from "./define.ts";

const common = {
  stability: "stable",
  summary: "A test.",
  config: { type: "object", properties: {} },
} as const;
const make = (): never => {
  throw new Error("not made in these tests");
};

describe("the define functions", () => {
  it.each([
    ["step", () => defineStep({ ...common, name: "a-step", create: make })],
    ["provider", () => defineProvider({ ...common, name: "a-step", create: make })],
    [
      "guardrail",
      () => defineGuardrail({ ...common, name: "a-step", create: make, sample: () => "bad" }),
    ],
    ["store", () => defineStore({ ...common, name: "a-step", create: make })],
  ])("mark a %s with its kind and the contract's version", (kind, define) => {
    const definition = define();
    expect(definition).toMatchObject({
      kind,
      apiVersion: API_VERSION,
      name: "a-step",
      summary: "A test.",
    });
    expect(Object.isFrozen(definition)).toBe(true);
  });

  it.each(["", "Auth", "1st", "a_b", "a b", "-a"])("refuse the name %j", (name) => {
    expect(() => defineStep({ ...common, name, create: make })).toThrow(TypeError);
    expect(() => defineStep({ ...common, name, create: make })).toThrow(JSON.stringify(name));
  });
});
