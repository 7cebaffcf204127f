import type { LedgerSumFilter, Log } from "@sluice/contract";
import { amount } from "@sluice/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSqliteStore } from "../../store.ts";
import { distinctRows } from "./model.fixture.ts";
import { row } from "./rows.fixture.ts";

const HOUR_MS = 3_600_000;
const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const time = fc
  .tuple(fc.integer({ min: -30, max: 80 }), oneOf(0, 0, 1, 1_800_000))
  .map(([hour, ms]) => hour * HOUR_MS + ms);
const filter: fc.Arbitrary<LedgerSumFilter> = fc.record(
  {
    keyId: oneOf("k1", "__proto__", ""),
    userId: oneOf("u1", "u3"),
    teamId: oneOf("t1", "T1"),
    organizationId: oneOf("o1", "o2"),
    endUser: oneOf("c1", "c 2"),
    tag: oneOf("x", "y:1"),
    provider: oneOf("p1", "p2", "p1/x"),
    models: fc.array(oneOf("m1", "m*", "*", "'; drop*", ""), { maxLength: 2 }),
    fromMs: time,
    toMs: time,
  },
  { requiredKeys: [] },
);

test("the start value of any budget equals the cost of its rows", { timeout: 60_000 }, async () => {
  const property = fc.asyncProperty(
    fc.array(row, { maxLength: 30 }),
    fc.array(filter, { minLength: 1, maxLength: 8 }),
    async (rows, filters) => {
      const store = createSqliteStore({ path: ":memory:" }, host);
      await store.start(new AbortController().signal);
      await store.ledger.insert(rows);
      for (const one of filters)
        expect(await store.ledger.spent(one)).toBe(Number(modelCost(rows, one)));
      await store.stop();
    },
  );
  await fc.assert(property, { numRuns: amount(200, 2_000) });
});

function modelCost(rows: Parameters<typeof distinctRows>[0], filter: LedgerSumFilter): bigint {
  const { tag, provider, models, fromMs = -Infinity, toMs = Infinity, ...equal } = filter;
  return distinctRows(rows)
    .filter((one) => one.startedAtMs >= fromMs && one.startedAtMs < toMs)
    .filter((one) =>
      Object.entries(equal).every(([name, id]) => one[name as keyof typeof one] === id),
    )
    .filter((one) => tag === undefined || one.tags.includes(tag))
    .filter(
      ({ targetId }) =>
        provider === undefined ||
        targetId === provider ||
        targetId?.startsWith(`${provider}/`) === true,
    )
    .filter(
      ({ model, modelGroup }) =>
        models === undefined ||
        models.some(
          (name) =>
            name === model ||
            name === modelGroup ||
            (name.endsWith("*") && model.startsWith(name.slice(0, -1))),
        ),
    )
    .reduce((sum, { costNanoUsd }) => sum + BigInt(costNanoUsd ?? 0), 0n);
}
