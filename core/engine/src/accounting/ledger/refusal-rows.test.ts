import { expect, test } from "vitest";
import type { SpendRow } from "@sluice/contract";
import { fakeClock } from "@sluice/testing";
import { RefusalRows } from "./refusal-rows.ts";
import { makeRow } from "../testing/make-row.ts";

const START_MS = 1_700_000_040_000;

function setUp() {
  const clock = fakeClock(START_MS);
  const written: SpendRow[] = [];
  const rows = new RefusalRows(clock, (sums) => written.push(...sums));
  let count = 0;
  const refuse = (changes: Partial<SpendRow> = {}): boolean => {
    const row = makeRow(`r${count++}`, {
      attempt: 0,
      status: "failure",
      errorCode: "rate_limited",
      startedAtMs: clock.now(),
      ...changes,
    });
    return rows.takes([row]);
  };
  return { clock, written, rows, refuse };
}

const total = (rows: readonly SpendRow[]): number =>
  rows.reduce((sum, { requests = 1 }) => sum + requests, 0);

test("of each key 60 refusals in a minute have rows of their own, the rest one row for each code", () => {
  const { written, rows, refuse } = setUp();
  for (let index = 0; index < 100; index++) refuse({ keyId: "other" });
  const taken = Array.from({ length: 1_000 }, (_, index) =>
    refuse({
      errorCode: index % 2 === 0 ? "rate_limited" : "budget_exceeded",
      model: `m${index}`,
      metadata: { note: "x" },
    }),
  );
  expect(taken.filter((isTaken) => !isTaken)).toHaveLength(60);
  expect(written).toEqual([]);
  rows.stop();
  expect(
    written.map(({ keyId, errorCode, requests, model }) => [keyId, errorCode, requests, model]),
  ).toEqual([
    ["other", "rate_limited", 40, "gpt-4o-mini"],
    ["key-1", "rate_limited", 470, ""],
    ["key-1", "budget_exceeded", 470, ""],
  ]);
  expect(new Set(written.map(({ requestId }) => requestId)).size).toBe(3);
  // PostgreSQL keeps a row in the partition of the time in its id.
  for (const { requestId, startedAtMs } of written) {
    expect(requestId).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(Number.parseInt(requestId.replace("-", "").slice(0, 12), 16)).toBe(startedAtMs);
  }
  expect(written[1]).toMatchObject({
    attempt: 0,
    status: "failure",
    metadata: {},
    tags: ["team-a"],
  });
});

test("a new minute writes the sums of the last one and begins anew", () => {
  const { clock, written, refuse } = setUp();
  for (let index = 0; index < 70; index++) refuse();
  clock.advance(60_000);
  expect(refuse()).toBe(false);
  expect(written).toMatchObject([{ requests: 10, startedAtMs: START_MS }]);
});

test("clients that vary their tags have a bounded number of sums, and every request is counted", () => {
  const { written, rows, refuse } = setUp();
  for (let index = 0; index < 5_060; index++) refuse({ tags: ["own", `tag-${index}`] });
  rows.stop();
  expect(written.length).toBe(17);
  expect(written.at(-1)?.tags).toEqual(["own"]);
  expect(total(written)).toBe(5_000);
});

test("the sums of many keys are bounded", () => {
  const { written, rows, refuse } = setUp();
  for (let key = 0; key < 5_000; key++)
    for (let index = 0; index < 62; index++) refuse({ keyId: `k${key}` });
  expect(written.length).toBeGreaterThan(4_000);
  rows.stop();
  expect(total(written)).toBe(10_000);
});

test("calls, clients that left and rows after the stop are not taken", () => {
  const { written, rows, refuse } = setUp();
  for (let index = 0; index < 100; index++) {
    expect(rows.takes([makeRow(`c${index}`)])).toBe(false);
    expect(refuse({ errorCode: "client_closed" })).toBe(false);
    expect(refuse({ errorCode: "client_stalled" })).toBe(false);
    expect(refuse({ status: "success", errorCode: null, cacheHit: true })).toBe(false);
  }
  rows.stop();
  for (let index = 0; index < 100; index++) expect(refuse()).toBe(false);
  rows.stop();
  expect(written).toEqual([]);
});

test("a sum belongs to the hour in which its requests began, and to the scopes of that time", () => {
  const { written, rows, refuse } = setUp();
  for (let index = 0; index < 60; index++) refuse();
  refuse();
  refuse({ startedAtMs: START_MS - 3_600_000 });
  refuse({ teamId: "moved" });
  refuse({ organizationId: "moved" });
  rows.stop();
  expect(
    written.map(({ requests, teamId, organizationId }) => [requests, teamId, organizationId]),
  ).toEqual([
    [1, null, null],
    [1, null, null],
    [1, "moved", null],
    [1, null, "moved"],
  ]);
});
