import { globSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findingsOf, readExamples } from "./examples.ts";
import { ROOT } from "./sources.ts";

/** Blocks that are no configuration of ours, and why. */
const NOT_OURS: Readonly<Record<string, string>> = {
  "docs/metrics.md scrape_configs:": "Prometheus' own file",
};

const documents = globSync(
  ["README.md", "docs/*.md", "plugins/*/README.md", "plugins/*/docs/*.md"],
  { cwd: ROOT },
).sort();
const examples = documents
  .flatMap((path) => readExamples(path))
  .filter(
    ({ at, text }) =>
      NOT_OURS[`${at.replace(/:\d+$/, "")} ${text.split("\n")[0] ?? ""}`] === undefined,
  );

describe("the YAML of the documents", () => {
  it("is found", () => {
    expect(examples.length).toBeGreaterThan(30);
    expect(documents.flatMap((path) => readExamples(path)).length - examples.length).toBe(
      Object.keys(NOT_OURS).length,
    );
  });

  it.each(examples.map((example) => [example.at, example] as const))(
    "%s is sound, and what it promises holds",
    async (_at, example) => {
      expect(await findingsOf(example)).toEqual([]);
    },
  );

  it("is checked by the real code", async () => {
    const findings = await findingsOf({
      at: "",
      guardrails: {},
      text: "- use: cache\n  with: { mode: sometimes, tlt: 1m }",
    });
    expect(findings.join("\n")).toMatch(/mode.*\n.*tlt/);
    const test =
      "name: t\n    request: { model: sluice-test/a, messages: [] }\n    expect: { status: 418 }";
    expect(
      (await findingsOf({ at: "", guardrails: {}, text: `tests:\n  - ${test}` })).join(),
    ).toContain('The test "t" fails');
    expect(
      await findingsOf({ at: "", guardrails: {}, text: "providers: { a: { use: nothing } }" }),
    ).toHaveLength(1);
  });
});
