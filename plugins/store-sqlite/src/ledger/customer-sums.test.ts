import { expect, it, vi } from "vitest";
import type { LedgerSumFilter, SpendRow } from "@sluice/contract";
import { CustomerSums } from "@sluice/store-sql/customers";
import { createKysely } from "../dialect.ts";
import { openEarlierStore } from "../earlier-store.fixture.ts";
import { migrate } from "../migrate.ts";
import { runHere } from "../statements.ts";
import { createLedgerInsert, ledgerValues } from "./insert.ts";
import { createLedgerAnswers } from "./questions.ts";

const named = (endUser: string): LedgerSumFilter => ({ organizationId: "", endUser });
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`);

it("sums that take long together are answered in part, and all callers get theirs", async () => {
  const database = await openEarlierStore(":memory:", "0021_spend_sums");
  await migrate(database, createKysely(runHere(database)), ":memory:");
  const row = { keyId: "k", model: "m", attempt: 1, startedAtMs: 5 };
  createLedgerInsert(database)(
    names(7).map((endUser, at) => {
      const own = { requestId: `r${at}`, endUser, costNanoUsd: at };
      return ledgerValues({ ...row, ...own } as unknown as SpendRow);
    }),
  );
  const answers = createLedgerAnswers(database);
  const sizes: number[] = [];
  const sums = new CustomerSums((filters) => {
    sizes.push(filters.length);
    return Promise.resolve([...answers({ about: "spent", filters })].flat() as number[]);
  });
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 40));
  try {
    const asked = names(7).map((name) => sums.of({ ...named(name), fromMs: 1 }, undefined));
    expect(await Promise.all(asked)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  } finally {
    clock.mockRestore();
  }
  // After three of 40 ms no further sum of a question begins.
  expect(sizes).toEqual([7, 4, 1]);
});
