import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WEEK_MS } from "@sluice/store-sql/weeks";
import { expect, test } from "vitest";
import { openEarlierStore } from "../../../earlier-store.fixture.ts";
import { createSqliteStore } from "../../../store.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const never = new AbortController().signal;
const SPANS = WEEK_MS / 900_000;

test("totals are added up from the begin, beside a process of the version before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-weeks-"));
  const path = join(folder, "sluice.db");
  const earlier = await openEarlierStore(path, "0160_spend_total_weeks");
  earlier.exec("insert into spend_model values (1, 'm', '')");
  const add = (span: number, nanoUsd: number): void => {
    for (const subject of ["all", "team:t"])
      earlier
        .prepare(
          `insert into spend_total values (?, ?, 1, ?)
           on conflict (subject, span, model_id) do update set nano_usd = nano_usd + excluded.nano_usd`,
        )
        .run(subject, span, nanoUsd);
  };
  for (let week = -1; week < 3; week++) add(week * SPANS, 1);
  // The job of the version before added the sums of cells up.
  earlier.exec("insert into spend_rolled values (1, 2)");
  const clock = { now: () => 5 * WEEK_MS, monotonic: () => 0 };
  const store = createSqliteStore({ path }, { log, clock, dataDirectory: folder });
  await store.start(never);
  const spent = async () => store.ledger.spent({ teamId: "t", fromMs: -WEEK_MS });
  expect(await spent()).toBe(4);
  add(SPANS, 10);
  earlier.exec("update spend_rolled set next_week = 3");
  expect(await spent()).toBe(14);
  const job = store.jobs?.find(({ name }) => name === "weeks");
  expect(await job?.run({ keepLedgerMs: undefined, signal: never })).toBe(
    "added up 4 weeks of spend_total_week",
  );
  expect(await spent()).toBe(14);
  add(SPANS, 100);
  add(2 * SPANS - 1, 1_000);
  expect(await spent()).toBe(1_114);
  const weeks = earlier
    .prepare("select week, nano_usd as cost from spend_total_week where subject = 'team:t'")
    .all();
  expect(weeks.map(({ week, cost }) => [week, cost])).toEqual([
    [-1, 1],
    [0, 1],
    [1, 1_111],
    [2, 1],
  ]);
  earlier.close();
  await store.stop();
  rmSync(folder, { recursive: true });
});
