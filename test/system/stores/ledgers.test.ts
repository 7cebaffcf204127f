/**
 * The ledger of PostgreSQL answers as the ledger of SQLite does, which is tested against a model of
 * its own. Random rows, repeated ones too, go to both; every question must have one answer.
 */

import {
  SPEND_DIMENSIONS,
  type KeyUseQuery,
  type LedgerFilter,
  type LedgerQuery,
  type LedgerSumFilter,
  type Log,
  rowCursor,
  type SpendGroup,
  type SpendReportQuery,
  type SpendRow,
  type Store,
} from "@sluice/contract";
import sqlite from "@sluice/store-sqlite";
import { amount } from "@sluice/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The begin of a day near now: partitions are made for days within a year. */
const BASE_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 5 * DAY_MS;
const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
/** The sum of all rows of a run is still exact as a number. */
const MAX_COUNT = 2 ** 46 + 1;
const count = fc.option(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(MAX_COUNT)));
const time = fc
  .tuple(
    // Of weeks that are not over too, and of some that were over before.
    fc.oneof(fc.integer({ min: -2, max: 3 }), oneOf(-9, -8, -16)),
    oneOf(0, 1, 23),
    fc.integer({ min: -1, max: 1 }),
  )
  .map(([day, hour, ms]) => BASE_MS + day * DAY_MS + hour * HOUR_MS + ms);

/** A UUID of version 7 of a time; the others differ by their last digit. */
function idAt(timeMs: number, digit: number): string {
  const hex = timeMs.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-00000000000${digit}`;
}

const NO_VERDICT = { guardrail: "", direction: "", verdict: "", mode: "" };
const JUDGED: NonNullable<SpendRow["judged"]> = [
  { route: "POST /a", ...NO_VERDICT, requests: 1 },
  {
    route: "POST /a",
    guardrail: "pii",
    direction: "input",
    verdict: "block",
    mode: "shadow",
    requests: 2,
  },
];

const row: fc.Arbitrary<SpendRow> = fc
  .record({
    digit: fc.integer({ min: 0, max: 3 }),
    attempt: fc.integer({ min: 0, max: 3 }),
    callType: fc.constant("chat"),
    keyId: oneOf("k1", "k2", "__proto__"),
    keyAlias: oneOf("alias", null),
    userId: fc.option(oneOf("u1", "u2")),
    teamId: fc.option(oneOf("t1", "T1")),
    organizationId: fc.option(oneOf("o1", "o2")),
    endUser: fc.option(oneOf("c1", "c 2", "\u{1f600}", "\uff5e", "nul\0")),
    model: oneOf("m1", "m2", "", "'; drop table ledger"),
    targetId: fc.option(oneOf("p1/m1", "p1/x/y", "p2")),
    modelGroup: fc.option(oneOf("m*", "m1")),
    provider: fc.option(oneOf("openai")),
    status: oneOf<SpendRow["status"]>("success", "failure", "partial"),
    errorCode: fc.option(oneOf("timeout")),
    promptTokens: count,
    completionTokens: count,
    totalTokens: count,
    cachedTokens: count,
    reasoningTokens: count,
    usageSource: oneOf<SpendRow["usageSource"]>("provider", "estimated", null),
    costNanoUsd: count,
    costStatus: oneOf<SpendRow["costStatus"]>("priced", "unpriced", "free"),
    cacheHit: fc.boolean(),
    startedAtMs: time,
    firstContentAtMs: count,
    endedAtMs: time,
    generation: fc.constant(1),
    tags: fc.uniqueArray(oneOf("x", "y:1", "ü", "a\0b"), { maxLength: 3 }),
    metadata: oneOf<SpendRow["metadata"]>(
      {},
      { a: [1, "b\0"], ü: null },
      // JSON.parse of V8 takes one of these names for the other.
      { a: 1, "x\\": 2 },
      { a: 1, 'x"': 2 },
    ),
    clientAddress: fc.option(oneOf("127.0.0.1")),
    upstreamRequestId: fc.option(oneOf("up")),
    completionId: fc.option(oneOf("chatcmpl-1", "chatcmpl-2")),
    requests: oneOf(undefined, undefined, 40),
    judged: oneOf<SpendRow["judged"]>(undefined, JUDGED.slice(0, 1), JUDGED),
  })
  .map(({ digit, ...parts }) => ({ ...parts, requestId: idAt(parts.startedAtMs, digit) }));

const ids = {
  keyId: oneOf("k1", "__proto__"),
  userId: oneOf("u1"),
  teamId: oneOf("t1", "T1"),
  organizationId: oneOf("o1", ""),
  endUser: oneOf("c1", "\u{1f600}"),
};
const span = {
  fromMs: time,
  toMs: time,
};
const rowFilter: fc.Arbitrary<LedgerFilter> = fc.record(
  { ...ids, ...span, completionId: oneOf("chatcmpl-1") },
  { requiredKeys: [] },
);
const sumFilter: fc.Arbitrary<LedgerSumFilter> = fc.record(
  {
    ...ids,
    ...span,
    tag: oneOf("x", "ü"),
    provider: oneOf("p1", "p2"),
    models: oneOf<string[]>(["m1"], ["m*"], [], ["m2", "x"]),
  },
  { requiredKeys: [] },
);
const report: fc.Arbitrary<SpendReportQuery> = fc
  .record({
    by: fc.uniqueArray(oneOf(...SPEND_DIMENSIONS), { maxLength: 2 }),
    bucket: oneOf<SpendReportQuery["bucket"]>("hour", "day", "none"),
    filter: fc.record(
      {
        organization: oneOf("o1", ""),
        team: oneOf("t1", ""),
        key: oneOf("k1", "__proto__"),
        model: oneOf("m1"),
        provider: oneOf("p1", ""),
        tag: oneOf("x"),
        customer: oneOf("c1"),
      },
      { requiredKeys: [] },
    ),
    within: oneOf<SpendReportQuery["within"]>(
      undefined,
      [],
      [{ team: "t1" }, { organization: "o2", user: "u1" }],
    ),
    from: fc.option(fc.oneof(fc.integer({ min: -2, max: 2 }), oneOf(-12, -10))),
    to: fc.option(fc.integer({ min: -1, max: 4 })),
    limit: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ within, from, to, ...query }) => ({
    ...query,
    ...(within !== undefined && { within }),
    ...(from !== null && { fromMs: BASE_MS + from * DAY_MS }),
    ...(to !== null && { toMs: BASE_MS + to * DAY_MS }),
  }));

const TABLES = [
  "ledger",
  "spend_hour",
  "spend_day",
  "spend_tag_hour",
  "spend_week",
  "spend_rolled",
  "spend_total_week",
  "spend_total_rolled",
  "spend_customer_day",
  "spend_total",
  "guardrail_day",
];

/** An answer, or the code of its refusal. */
async function outcome<T>(answer: Promise<T>): Promise<T | string> {
  return answer.catch((error: unknown) => String((error as { code?: unknown }).code));
}

async function rowsOf(
  { ledger }: Store,
  filter: LedgerFilter & Pick<LedgerQuery, "within">,
): Promise<SpendRow[]> {
  const found: SpendRow[] = [];
  for (;;) {
    const last = found.at(-1);
    const page = await ledger.rows({
      ...filter,
      limit: 3,
      ...(last && { before: rowCursor(last) }),
    });
    found.push(...page);
    if (page.length < 3) return found;
  }
}

async function groupsOf({ ledger }: Store, query: SpendReportQuery): Promise<SpendGroup[]> {
  const found: SpendGroup[] = [];
  for (;;) {
    const last = found.at(-1);
    const page = await ledger.report({ ...query, ...(last && { after: last }) });
    found.push(...page);
    if (page.length < query.limit) return found;
  }
}

/** Adds up the weeks that are over, as the leader does. */
async function rollWeeks({ jobs = [] }: Store): Promise<void> {
  const job = jobs.find(({ name }) => name === "weeks");
  if (job === undefined) throw new Error("the store adds no weeks up");
  await job.run({ keepLedgerMs: undefined, signal: AbortSignal.timeout(10_000) });
}

/** Every question, and its answer by a store. */
async function answers(store: Store, questions: Questions): Promise<unknown> {
  const { rows, sums, reports, uses } = questions;
  const { ledger } = store;
  return {
    rows: await Promise.all(rows.map(async (filter) => rowsOf(store, filter))),
    within: await Promise.all(SCOPES.map(async (within) => rowsOf(store, { ...rows[0], within }))),
    days: await Promise.all(rows.map(async (filter) => ledger.days(filter))),
    tags: await Promise.all(rows.map(async (filter) => ledger.tags(filter))),
    spent: await Promise.all(sums.map(async (filter) => ledger.spent(filter))),
    reports: await Promise.all(reports.map(async (query) => outcome(groupsOf(store, query)))),
    uses: await ledger.uses(uses),
    guardrails: await ledger.guardrails?.({ fromMs: BASE_MS - DAY_MS }),
  };
}

interface Questions {
  readonly rows: readonly LedgerFilter[];
  readonly sums: readonly LedgerSumFilter[];
  readonly reports: readonly SpendReportQuery[];
  readonly uses: readonly KeyUseQuery[];
}

/** Places and users whose rows a reader may see. */
const SCOPES = [
  { organizations: ["o1", "o2"], teams: ["t1"], users: ["u1", "u2"] },
  { organizations: [], teams: ["T1", "none"], users: ["u2"] },
  { organizations: [], teams: [], users: [] },
];

/** Rows without an organization: random filters seldom ask for these alone. */
const UNORGANIZED = [
  { organizationId: "" },
  { organizationId: "", fromMs: BASE_MS + 1 },
  { organizationId: "", endUser: "c1", fromMs: BASE_MS - DAY_MS - 1 },
];

const questions: fc.Arbitrary<Questions> = fc.record({
  rows: fc
    .array(rowFilter, { minLength: 1, maxLength: 4 })
    .map((filters) => [...filters, ...UNORGANIZED]),
  sums: fc
    .array(sumFilter, { minLength: 1, maxLength: 6 })
    .map((filters) => [...filters, ...UNORGANIZED]),
  reports: fc.array(report, { minLength: 1, maxLength: 6 }),
  uses: fc.array(
    fc.record(
      {
        keyId: oneOf("k1", "__proto__", "unused"),
        fromMs: fc.oneof(time, oneOf(0)),
        tag: oneOf("x", "unused"),
      },
      { requiredKeys: ["keyId", "fromMs"] },
    ),
    { maxLength: 4 },
  ),
});

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`ledgers in PostgreSQL ${way} and in SQLite`, () => {
    let database: TestDatabase | undefined;
    beforeAll(async () => {
      database = await createDatabaseOn({ pooled });
    });
    afterAll(async () => database?.drop());

    it("have the same rows, days, tags, sums, reports and uses", { timeout: 120_000 }, async () => {
      if (database === undefined) throw new Error("There is no PostgreSQL.");
      const postgres = await database.store();
      const property = fc.asyncProperty(
        fc.array(fc.array(row, { maxLength: 12 }), { maxLength: 4 }),
        questions,
        fc.integer({ min: 0, max: 4 }),
        async (batches, asked, rollBefore) => {
          for (const table of TABLES) await database?.query(`delete from ${table}`);
          const other = sqlite.create({ path: ":memory:" }, { log, clock, dataDirectory: "/" });
          await other.start(AbortSignal.timeout(10_000));
          for (const store of [other, postgres]) {
            for (const [index, batch] of batches.entries()) {
              if (index === rollBefore) await rollWeeks(store);
              await store.ledger.insert(batch);
              // As after a crash between the insert and its acknowledgement.
              await store.ledger.insert(batch.slice(1));
            }
            if (rollBefore >= batches.length) await rollWeeks(store);
          }
          expect(await answers(postgres, asked)).toEqual(await answers(other, asked));
          const check = await postgres.verifySums?.({}, AbortSignal.timeout(60_000));
          expect(check?.differences).toEqual([]);
          await other.stop();
        },
      );
      // A counterexample is reported as it was found: each try of a smaller one takes time.
      await fc.assert(property, { numRuns: amount(8, 40), endOnFailure: true });
    });
  });
