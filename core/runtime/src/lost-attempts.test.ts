import { describe, expect, it } from "vitest";
import { type Attempt, type ErrorCode, GatewayError } from "@sluice/contract";
import { isAmbiguous } from "./lost-attempts.ts";
import { fakeAttempt } from "@sluice/testing";

const error = (code: ErrorCode): GatewayError => new GatewayError(code, "no");
const lost: Partial<Attempt> = {
  isUnanswered: true,
  outcome: "failure",
  error: error("upstream_unreachable"),
};

describe("a call that may have been carried out", () => {
  it.each<readonly [string, Partial<Attempt>, boolean]>([
    ["was sent and lost", {}, true],
    ["was sent and timed out", { error: error("upstream_timeout") }, true],
    ["was cut by the deadline", { error: error("deadline_exceeded") }, true],
    ["was not sent", { isUnanswered: undefined }, false],
    ["was refused", { isUnanswered: false }, false],
    ["succeeded", { outcome: "success", error: undefined }, false],
    ["was cut after its first content", { outcome: "partial", firstContentAtMs: 1 }, false],
    ["failed while it was held back with content", { firstContentAtMs: 1 }, false],
    ["was left by its client", { error: error("client_closed") }, false],
    ["lost to another one", { error: error("hedge_lost") }, false],
  ])("is one that %s: %s, %s", (_what, parts, expected) => {
    expect(isAmbiguous(fakeAttempt({ ...lost, ...parts }))).toBe(expected);
  });

  it("is one that is still open when the deadline ends its exchange, and not when its client leaves", () => {
    const open = fakeAttempt({ isUnanswered: true });
    expect(
      [error("deadline_exceeded"), error("client_closed"), undefined].map((reason) =>
        isAmbiguous(open, reason),
      ),
    ).toEqual([true, false, false]);
  });
});
