/** The contract of a ledger's sums: what every store passes. */

import {
  type LedgerStore,
  rowCursor,
  type SpendGroup,
  type SpendReportQuery,
  type SpendRow,
} from "@sluice/contract";
import fc from "fast-check";
import type { Runner } from "../shared-state/index.ts";
import { distinctRows, modelCost, modelGuardrails, modelReport, modelUse } from "./model.ts";
import { rowScope, spendFilter, spendQuestion, useBegin } from "./questions.ts";
import { spendRow } from "./rows.ts";

const DAY_MS = 86_400_000;

/** An empty ledger under test. */
export interface LedgerUnderTest {
  readonly ledger: LedgerStore;
  /** Does what the leader does for sums, where there is such work: any time is right. */
  roll?(): Promise<void>;
  close(): Promise<void>;
}

/** Tests that the reports and sums of a store equal the rows; `open` makes an empty ledger. */
export function spendContract(
  { describe, it, expect }: Runner,
  name: string,
  open: () => Promise<LedgerUnderTest>,
  numRuns: number,
): void {
  describe(`the spend sums of ${name}`, () => {
    it("any report equals the sums of its rows, page after page", async () => {
      const property = fc.asyncProperty(
        fc.array(fc.array(spendRow, { maxLength: 8 }), { maxLength: 5 }),
        fc.array(spendQuestion, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 5 }),
        async (batches, questions, rollBefore) => {
          const { ledger, roll, close } = await open();
          // Each batch comes twice, as after a crash between the insert and its acknowledgement.
          for (const [index, batch] of batches.entries()) {
            if (index === rollBefore) await roll?.();
            await ledger.insert(batch);
            await ledger.insert(batch.slice(1));
          }
          if (rollBefore >= batches.length) await roll?.();
          for (const query of questions) {
            const expected = modelReport(batches.flat(), query);
            expect((await pagesOf(ledger, query)).map(withoutAlias)).toEqual(expected);
            if (query.bucket !== "none") continue;
            const highest = await ledger.report({ ...query, order: "spend" });
            const costs = expected.map(({ sums }) => sums.costNanoUsd).sort(descending);
            expect(highest.map(({ sums }) => sums.costNanoUsd)).toEqual(
              costs.slice(0, query.limit),
            );
          }
          await close();
        },
      );
      await fc.assert(property, { numRuns });
    });

    it("the start value of any budget equals the cost of its rows", async () => {
      const property = fc.asyncProperty(
        fc.array(spendRow, { maxLength: 30 }),
        fc.array(spendFilter, { minLength: 1, maxLength: 8 }),
        fc.option(fc.integer({ min: 0, max: 30 })),
        async (rows, filters, rollBefore) => {
          const { ledger, roll, close } = await open();
          if (rollBefore !== null) {
            await ledger.insert(rows.slice(0, rollBefore));
            await roll?.();
          }
          await ledger.insert(rows);
          for (const filter of filters)
            expect(await ledger.spent(filter)).toBe(Number(modelCost(rows, filter)));
          await close();
        },
      );
      await fc.assert(property, { numRuns });
    });

    it("rows of some places and users are theirs, each once, page after page", async () => {
      const property = fc.asyncProperty(
        fc.array(spendRow, { maxLength: 30 }),
        rowScope,
        fc.integer({ min: 1, max: 4 }),
        async (rows, within, limit) => {
          const { ledger, close } = await open();
          await ledger.insert(rows);
          const { organizations, teams, users } = within;
          const expected = distinctRows(rows).filter(
            ({ organizationId, teamId, userId }) =>
              organizations.includes(organizationId ?? "") ||
              teams.includes(teamId ?? "none") ||
              users.includes(userId ?? "none"),
          );
          const found: SpendRow[] = [];
          for (let page: readonly SpendRow[] = []; ;) {
            const last = page.at(-1);
            page = await ledger.rows({ within, limit, ...(last && { before: rowCursor(last) }) });
            found.push(...page);
            if (page.length < limit) break;
          }
          expect(found.map(rowCursor).sort()).toEqual(expected.map(rowCursor).sort());
          const times = found.map(({ startedAtMs }) => startedAtMs);
          expect(times).toEqual([...times].sort((a, b) => b - a));
          await close();
        },
      );
      await fc.assert(property, { numRuns });
    });

    it("the counts of guardrails are those of the rows, each counted once", async () => {
      const property = fc.asyncProperty(
        fc.array(fc.array(spendRow, { maxLength: 8 }), { maxLength: 4 }),
        async (batches) => {
          const { ledger, close } = await open();
          for (const batch of batches) {
            await ledger.insert(batch);
            await ledger.insert(batch.slice(1));
          }
          for (const fromMs of [-2 * DAY_MS, 0, DAY_MS])
            expect(await ledger.guardrails?.({ fromMs })).toEqual(
              modelGuardrails(batches.flat(), fromMs),
            );
          await close();
        },
      );
      await fc.assert(property, { numRuns });
    });

    it("the use of any keys is the cost of their rows since a time, and their newest row", async () => {
      const keyId = fc.constantFrom("k1", "__proto__", "unused");
      const tag = fc.constantFrom("x", "unused");
      const property = fc.asyncProperty(
        fc.array(spendRow, { maxLength: 30 }),
        fc.array(
          fc.record({ keyId, fromMs: useBegin, tag }, { requiredKeys: ["keyId", "fromMs"] }),
          { maxLength: 4 },
        ),
        async (rows, keys) => {
          const { ledger, close } = await open();
          await ledger.insert(rows);
          expect(await ledger.uses(keys)).toEqual(keys.map((key) => modelUse(rows, key)));
          await close();
        },
      );
      await fc.assert(property, { numRuns });
    });
  });
}

function descending(a: bigint, b: bigint): number {
  return a === b ? 0 : a > b ? -1 : 1;
}

/** All pages of a report. */
async function pagesOf(ledger: LedgerStore, query: SpendReportQuery): Promise<SpendGroup[]> {
  const groups: SpendGroup[] = [];
  for (;;) {
    const last = groups.at(-1);
    const page = await ledger.report({ ...query, ...(last && { after: last }) });
    groups.push(...page);
    if (page.length < query.limit) return groups;
  }
}

/** A group without what depends on other rows than its own. */
export function withoutAlias({ startMs, ids, sums }: SpendGroup): SpendGroup {
  return { startMs, ids, sums };
}
