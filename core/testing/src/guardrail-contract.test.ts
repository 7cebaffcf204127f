import { describe, expect, it } from "vitest";
import { defineGuardrail } from "@sluice/kit";
import { matchSpans } from "@sluice/kit/guard";
import {
  describeReport,
  guardrailContract,
  mutationReport,
  type TestRunner,
} from "./guardrail-contract.ts";

const config = { type: "object", properties: {} } as const;
const parts = {
  stability: "stable",
  summary: "A test.",
  config,
  sample: () => "4111-1111",
} as const;

const masking = defineGuardrail({
  ...parts,
  name: "masking",
  create: () => ({
    reach: 11,
    check(text) {
      const spans = matchSpans(text, /(?<!\d)\d{4}-\d{4}(?!\d)/g, "[N]");
      return spans.length === 0 ? { kind: "allow" } : { kind: "edit", spans };
    },
  }),
});

const shortsighted = defineGuardrail({
  ...parts,
  name: "shortsighted",
  create: () => ({ ...masking.create({}, {} as never), reach: 4 }),
});
const toothless = defineGuardrail({
  ...parts,
  name: "toothless",
  create: () => ({ reach: 4, check: () => ({ kind: "allow" }) }),
});

const TEXTS = {
  config: {},
  denied: ["my number is 4111-1111 ok"],
  allowed: ["4111-11112", "nothing"],
};

// oxlint-disable-next-line no-console -- the report is for the person that runs the suite.
guardrailContract(masking, { ...TEXTS, report: console.info }, { describe, it });

/** The names of the tests that fail. */
async function failures(define: (runner: TestRunner) => void): Promise<string[]> {
  const tests: [string, () => Promise<void>][] = [];
  define({ describe: (_name, inner) => inner(), it: (name, run) => void tests.push([name, run]) });
  const results = await Promise.allSettled(tests.map(([, run]) => run()));
  return tests
    .filter((_test, index) => results[index]?.status === "rejected")
    .map(([name]) => name);
}

describe("the contract suite", () => {
  it("finds a reach that is too short", async () => {
    expect(await failures((runner) => guardrailContract(shortsighted, TEXTS, runner))).toEqual([
      "says the same however a text is cut, and nothing denied leaves early",
      "says the same of mixtures cut at random",
    ]);
  });

  it("finds a guardrail that denies nothing", async () => {
    expect(await failures((runner) => guardrailContract(toothless, TEXTS, runner))).toEqual([
      "denies its own sample",
      "denies what it must, and lets pass what it may",
    ]);
  });

  it("reports which mutations pass", async () => {
    const report = await mutationReport(masking, { ...TEXTS, denied: ["4111-1111"] });
    expect(report.byKind["role move"]).toEqual({ tried: 9, bypassed: 0 });
    for (const kind of [
      "media prefix",
      "media members",
      "name of a member",
      "encoded file",
      "malformed escape",
    ])
      expect(report.byKind[kind]).toMatchObject({ bypassed: 0 });
    expect(report.byKind["protocol member"]).toEqual({ tried: 21, bypassed: 0 });
    expect(report.byKind["base64"]).toEqual({ tried: 1, bypassed: 1 });
    expect(describeReport(report)).toMatch(/^masking: \d+ of \d+ mutations pass \(\d+ %\)/);
  });
});
