import { describe, expect, it } from "vitest";
import { fakeLog, type LogLine } from "@sluice/testing";
import { ClosingScope } from "./scope.ts";

describe("a scope", () => {
  it("closes in the reverse order of its making, one after the other", async () => {
    const seen: string[] = [];
    const scope = new ClosingScope(fakeLog([]));
    for (const name of ["a", "b", "c"]) {
      scope.defer(async () => {
        seen.push(`${name} begins`);
        await Promise.resolve();
        seen.push(`${name} ends`);
      });
    }
    await scope.close();
    expect(seen).toEqual(["c begins", "c ends", "b begins", "b ends", "a begins", "a ends"]);
  });

  it("goes on after a closer that fails, and logs it", async () => {
    const seen: string[] = [];
    const lines: LogLine[] = [];
    const scope = new ClosingScope(fakeLog(lines));
    scope.defer(() => void seen.push("first"));
    scope.defer(() => Promise.reject(new Error("later")));
    scope.defer(() => {
      throw new Error("at once");
    });
    await scope.close();
    expect(seen).toEqual(["first"]);
    expect(lines.map(({ level, fields }) => [level, String(fields?.error)])).toEqual([
      ["error", "Error: at once"],
      ["error", "Error: later"],
    ]);
  });

  it("closes once", async () => {
    let count = 0;
    const scope = new ClosingScope(fakeLog([]));
    scope.defer(() => void count++);
    await Promise.all([scope.close(), scope.close()]);
    await scope.close();
    expect(count).toBe(1);
  });
});
