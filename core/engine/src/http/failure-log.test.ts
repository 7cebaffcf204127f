import { GatewayError } from "@sluice/contract";
import { fakeIdentity, fakeLog, type LogLine } from "@sluice/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FailureLog } from "./failure-log.ts";

const exchangeOf = (keyId: string) => ({
  id: "id-1",
  generation: 1,
  attempts: [],
  identity: fakeIdentity({ keyId }),
});
const exchange = exchangeOf("key-1");

describe("the log of failures", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("has 20 lines a second for a code and a key, and one that counts the rest", () => {
    const lines: LogLine[] = [];
    const failures = new FailureLog(fakeLog(lines));
    const report = (code: "overloaded" | "upstream_unreachable", count: number): void => {
      for (let n = 0; n < count; n += 1) failures.report(exchange, new GatewayError(code, "No."));
    };
    const messages = (): string[] => lines.splice(0).map(({ message }) => message);

    report("overloaded", 25);
    report("upstream_unreachable", 3);
    expect(messages()).toEqual(Array.from({ length: 23 }, () => "request failed"));
    vi.advanceTimersByTime(1_000);
    expect(lines[0]?.fields).toEqual({ code: "overloaded", not_named: 5 });
    expect(messages()).toEqual(["more requests failed than the log names"]);

    report("overloaded", 1);
    vi.advanceTimersByTime(1_000);
    expect(messages()).toEqual(["request failed"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has lines for a key beside the flood of another, and 100 for a code", () => {
    const lines: LogLine[] = [];
    const failures = new FailureLog(fakeLog(lines));
    const linesOf = (keyId: string): number => {
      const before = lines.length;
      for (let n = 0; n < 50; n += 1)
        failures.report(exchangeOf(keyId), new GatewayError("overloaded", "No."));
      return lines.length - before;
    };
    const counts = ["a", "b", "c", "d", "e", "f"].map(linesOf);
    expect(counts).toEqual([20, 20, 20, 20, 20, 0]);
    expect(linesOf("a")).toBe(0);
    vi.advanceTimersByTime(1_000);
    expect(lines.at(-1)?.fields).toEqual({ code: "overloaded", not_named: 250 });
    expect(linesOf("f")).toBe(20);
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has a line for each failure of a plugin that is not like twenty before it", () => {
    const lines: LogLine[] = [];
    const failures = new FailureLog(fakeLog(lines));
    const report = (keyId: string, cause: string): number => {
      const before = lines.length;
      const error = new GatewayError("plugin_failed", "No.", { cause: new Error(cause) });
      for (let n = 0; n < 30; n += 1) failures.report(exchangeOf(keyId), error);
      return lines.length - before;
    };
    expect(report("a", "suspended")).toBe(20);
    expect(report("a", "x is undefined")).toBe(20);
    expect(report("b", "suspended")).toBe(20);
    vi.advanceTimersByTime(1_000);
    expect(lines.at(-1)?.fields).toEqual({ code: "plugin_failed", not_named: 30 });
  });

  it("has a thousand lines a second for failures of plugins that all differ", () => {
    const lines: LogLine[] = [];
    const failures = new FailureLog(fakeLog(lines));
    for (let n = 0; n < 1_500; n += 1)
      failures.report(exchange, new GatewayError("plugin_failed", `No ${n}.`));
    expect(lines).toHaveLength(1_000);
    vi.advanceTimersByTime(1_000);
    expect(lines.at(-1)?.fields).toEqual({ code: "plugin_failed", not_named: 500 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has none for what is the client's own fault", () => {
    const lines: LogLine[] = [];
    new FailureLog(fakeLog(lines)).report(exchange, new GatewayError("invalid_field", "No."));
    expect(lines).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
