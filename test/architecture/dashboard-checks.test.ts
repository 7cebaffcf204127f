/** The acceptance checks of the dashboard: the page names tests that are there. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHECKS, CHECKS_PAGE, checkTests } from "../generate/dashboard-checks.ts";

const ROW = /^\| (\d+) \| (.+) \| (.+) \|$/gm;

describe("docs/dashboard/checks.md (node test/generate/dashboard-checks.ts)", () => {
  const tests = checkTests();
  const rows = [...readFileSync(CHECKS_PAGE, "utf8").matchAll(ROW)].map(
    ([, number = "", what = "", cell = ""]) => ({
      number: Number(number),
      what,
      files: [...cell.matchAll(/\]\(\.\.\/\.\.\/([^)]+)\)/g)].map(([, file = ""]) => file),
    }),
  );

  it("has every check", () => {
    expect(rows.map(({ what }) => what)).toEqual(CHECKS);
    expect(rows.map(({ number }) => number)).toEqual(CHECKS.map((_, index) => index + 1));
  });

  it("names files with tests of the check, and all files of those it names none of", () => {
    const wrong = rows.flatMap(({ number, files }) =>
      files
        .filter((file) => !tests.some((test) => test.file === file && test.checks.includes(number)))
        .map((file) => `${number}: ${file}`),
    );
    expect(wrong).toEqual([]);
    const unnamed = rows.filter(
      ({ number, files }) =>
        files.length === 0 && tests.some(({ checks }) => checks.includes(number)),
    );
    expect(unnamed.map(({ number }) => number)).toEqual([]);
  });

  it("has no number that is no check", () => {
    const numbers = tests.flatMap(({ checks }) => checks);
    expect(numbers.filter((number) => number < 1 || number > CHECKS.length)).toEqual([]);
  });
});
