import { describe, expect, it } from "vitest";
import { fakeClient, fakeExchange, fakeIdentity } from "@sluice/testing";
import type { AttemptRecord, ExchangeRecord } from "./exchange-record.ts";
import { describeRecord, explainComment, explainHeader, mayExplain } from "./explain.ts";

const steps = ["auth", "twice", "middle", "twice", "provider"].map((name, index) => ({
  name,
  at: { file: "/etc/sluice/pipelines/chat.yaml", line: 10 + index, column: 5 },
}));

const ATTEMPT: AttemptRecord = {
  attempt: 1,
  targetId: "openai/m",
  provider: "openai",
  model: "m",
  outcome: "success",
  status: 200,
  errorCode: null,
  startMs: 1,
  firstContentMs: 5,
  endMs: 9,
  upstreamMs: 7.123456,
  promptTokens: 1,
  completionTokens: null,
  totalTokens: null,
  usageSource: null,
  costNanoUsd: 1_500,
  costStatus: "priced",
  upstreamRequestId: null,
  completionId: null,
};

function record(parts: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    id: "id-1",
    outline: {
      method: "POST",
      path: "/v1/chat/completions",
      pipeline: "chat",
      operation: "chat",
      steps,
    },
    generation: 3,
    keyId: "key-1",
    keyAlias: undefined,
    userId: undefined,
    teamId: undefined,
    organizationId: undefined,
    model: "m",
    stream: false,
    startedAtMs: Date.UTC(2026, 0, 1),
    totalMs: 10.98765,
    overheadMs: undefined,
    bodyMs: 0.5,
    status: 200,
    errorCode: undefined,
    ownMs: [1, 2, 3, 4, 5],
    runs: [1, 1, 1, 1, 1],
    failures: undefined,
    notes: [],
    attempts: [ATTEMPT],
    ...parts,
  };
}

describe("the description of a record", () => {
  it("says what became of each step", () => {
    const outcomes = (parts: Partial<ExchangeRecord>) =>
      describeRecord(record(parts)).steps.map(({ outcome }) => outcome);
    expect(outcomes({})).toEqual(["passed", "passed", "passed", "passed", "answered"]);
    expect(outcomes({ ownMs: [1, 2], runs: [1, 1] })).toEqual([
      "passed",
      "answered",
      ...Array(3).fill("not reached"),
    ]);
    expect(
      outcomes({ runs: [1, 1, 1], failures: [undefined, "upstream_failed", "upstream_failed"] }),
    ).toEqual("passed,failed,failed,not reached,not reached".split(","));
  });

  it("gives a note to the step around what was running, where two have one name", () => {
    const note = (step: string, place: number, about?: string) => ({
      step,
      place,
      text: step,
      about,
    });
    const notes = [
      note("twice", 1, "a"),
      note("twice", 2, "b"),
      note("twice", 4, "c"),
      note("twice", 0, "d"),
      note("unknown", 1),
    ];
    expect(describeRecord(record({ notes })).steps.map(({ decisions }) => decisions)).toEqual([
      [],
      ["twice: a", "twice: b", "twice: d"],
      [],
      ["twice: c"],
      [],
    ]);
  });

  it("leaves unknown what is unknown", () => {
    const { overhead_ms, attempts, error, key } = describeRecord(record());
    expect({ overhead_ms, error, key }).toEqual({
      overhead_ms: null,
      error: null,
      key: { id: "key-1", alias: null },
    });
    expect(attempts[0]).toMatchObject({
      upstream_ms: 7.123,
      completion_tokens: null,
      cost: 0.0000015,
    });
  });
});

describe("the short form", () => {
  it("is ASCII without empty members and without folders", () => {
    const header = explainHeader(record({ model: "mödel\n😀", keyAlias: "é" }));
    expect(header).toMatch(/^[\x20-\x7e]+$/);
    expect(header).not.toMatch(/null|\[\]|\/etc/);
    expect(JSON.parse(header)).toMatchObject({
      model: "mödel\n😀",
      key: { alias: "é" },
      steps: [{ at: "chat.yaml:10" }, {}, {}, {}, {}],
    });
  });

  it("leaves out the steps, then the attempts, rather than be too long", () => {
    const shortOf = (text: string) =>
      JSON.parse(text) as { readonly omitted?: readonly string[]; readonly request_id: string };
    const many = Array.from({ length: 16 }, () => ATTEMPT);
    const notes = Array.from({ length: 32 }, () => ({
      step: "auth",
      place: 0,
      text: "x".repeat(200),
      about: undefined,
    }));
    expect(shortOf(explainHeader(record())).omitted).toBeUndefined();
    expect(shortOf(explainHeader(record({ notes }))).omitted).toEqual(["steps"]);
    expect(shortOf(explainHeader(record({ notes, attempts: many }))).omitted).toEqual([
      "steps",
      "attempts",
    ]);
    const worst = record({ model: "ü".repeat(256), keyAlias: "ü".repeat(256) });
    expect(shortOf(explainHeader(worst))).toEqual({ request_id: "id-1", omitted: ["everything"] });
    for (const each of [record({ notes, attempts: many }), worst])
      expect(explainHeader(each).length).toBeLessThanOrEqual(2_048);
    const comment = explainComment(record({ notes, attempts: many }));
    expect(comment).toMatch(/^: x-sluice-explain \{[^\n]*\}\n\n$/);
    expect(comment.length).toBeLessThan(16_500);
  });
});

it.each([
  ["1", { kind: "master" }, true],
  ["1", { metadata: { sluice_explain: true } }, true],
  ["1", {}, false],
  ["1", { metadata: { sluice_explain: "true" } }, false],
  ["1", undefined, false],
  ["0", { kind: "master" }, false],
  [undefined, { kind: "master" }, false],
] as const)("x-sluice-explain: %s of %j is answered: %s", (value, identity, expected) => {
  const exchange = fakeExchange({
    client: fakeClient(value === undefined ? {} : { "x-sluice-explain": value }),
    identity: identity === undefined ? undefined : fakeIdentity(identity),
  });
  expect(mayExplain(exchange)).toBe(expected);
});
