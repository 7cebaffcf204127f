import { describe, expect, it } from "vitest";
import { type FieldSpec, readValue } from "./field-spec.ts";

const MONEY: FieldSpec = { name: "max_budget", label: "Budget", group: "Budget", kind: "money" };
const COUNT: FieldSpec = { name: "rpm_limit", label: "Requests", group: "Limits", kind: "count" };

describe("typed numbers", () => {
  it.each([
    ["", null],
    ["0", 0],
    ["5", 5],
    ["$5", 5],
    ["$ 1,250.50", 1_250.5],
    [".5", 0.5],
    ["1,000,000", 1_000_000],
    ["1e-7", 1e-7],
  ])("%j is %j", (typed, value) => {
    expect(readValue(MONEY, typed)).toEqual({ value });
  });

  it.each(["1,5", "12,50", "1,2345", "$", "-", "0x10", "-1", "1.5.2", "1e999", "five"])(
    "%j is a fault",
    (typed) => {
      expect(readValue(MONEY, typed)).toEqual({ fault: "Not a number from 0, such as 1250.5." });
    },
  );

  it("of requests are whole", () => {
    expect(readValue(COUNT, "1,200")).toEqual({ value: 1_200 });
    expect(readValue(COUNT, "1.5")).toEqual({ fault: "Not a whole number." });
    expect(readValue(COUNT, "many")).toEqual({ fault: "Not a number from 0, such as 1250." });
  });
});
