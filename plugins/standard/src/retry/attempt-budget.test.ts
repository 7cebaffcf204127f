import { describe, expect, it } from "vitest";
import type { Exchange } from "@sluice/contract";
import { branchOf } from "@sluice/kit";
import { beginAttempt } from "@sluice/runtime";
import { fakeExchange, fakeTarget } from "@sluice/testing";
import { joinAttempts, limitAttempts, mayAttemptAgain } from "./attempt-budget.ts";

describe("the bound of all tries", () => {
  it("is none until a step sets one", () => {
    const exchange = fakeExchange();
    begin(exchange, 20);
    expect(mayAttemptAgain(exchange)).toBe(true);
    limitAttempts(exchange, 20);
    expect(mayAttemptAgain(exchange)).toBe(false);
  });

  it("is one for all branches of an exchange, and branches of branches", () => {
    const exchange = fakeExchange();
    limitAttempts(exchange, 3);
    const [one, two] = [branchOf(exchange), branchOf(exchange)];
    const inner = branchOf(two);
    begin(one, 1);
    begin(inner, 1);
    expect([exchange, one, two, inner].map(mayAttemptAgain)).toEqual([true, true, true, true]);
    begin(one, 1);
    expect([exchange, one, two, inner].map(mayAttemptAgain)).toEqual([false, false, false, false]);
  });

  it("counts attempts that belong together as one, also when they fail", async () => {
    const exchange = fakeExchange();
    limitAttempts(exchange, 2);
    await joinAttempts(exchange, async () => void begin(exchange, 4));
    await joinAttempts(exchange, async () => undefined);
    expect(mayAttemptAgain(exchange)).toBe(true);
    const failing = joinAttempts(exchange, async () => {
      begin(exchange, 3);
      throw new Error("no image");
    });
    await expect(failing).rejects.toThrow("no image");
    expect(mayAttemptAgain(exchange)).toBe(false);
  });
});

function begin(exchange: Exchange, attempts: number): void {
  for (let index = 0; index < attempts; index += 1) beginAttempt(exchange, fakeTarget(), "fake");
}
