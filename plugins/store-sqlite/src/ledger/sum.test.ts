import { beforeAll, expect, test } from "vitest";
import type { SpendRow } from "@sluice/contract";
import { createKysely } from "../dialect.ts";
import { openEarlierStore } from "../earlier-store.fixture.ts";
import { migrate } from "../migrate.ts";
import { runHere } from "../statements.ts";
import { LEDGER_COLUMNS } from "./columns.ts";
import { createLedgerInsert, ledgerValues } from "./insert.ts";
import { createLedgerSum } from "./sum.ts";
import { fillSums } from "./sums/fill.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

type LedgerSum = ReturnType<typeof createLedgerSum>;

interface Row extends Partial<
  Pick<
    SpendRow,
    | "keyId"
    | "userId"
    | "teamId"
    | "organizationId"
    | "endUser"
    | "model"
    | "modelGroup"
    | "targetId"
    | "costNanoUsd"
    | "tags"
  >
> {
  readonly at: number;
}

/** A ledger with rows of which so many were there before the sums. */
async function ledgerOf(rows: readonly Row[], before: number): Promise<LedgerSum> {
  const database = await openEarlierStore(":memory:", "0021_spend_sums");
  const old = database.prepare(
    `insert into ledger (${LEDGER_COLUMNS.join(", ")}) values (${LEDGER_COLUMNS.map(() => "?").join(", ")})`,
  );
  const values = rows.map((row, index) =>
    ledgerValues({
      keyId: "k",
      model: "other",
      ...row,
      requestId: `r${index}`,
      attempt: 1,
      startedAtMs: row.at,
    } as unknown as SpendRow),
  );
  for (const row of values.slice(0, before)) old.run(...row);
  await migrate(database, createKysely(runHere(database)), ":memory:");
  // New rows arrive while the old ones are being added up.
  createLedgerInsert(database)(values.slice(0, -1));
  await fillSums(database, () => undefined);
  const insert = createLedgerInsert(database);
  // Rows come again, as after a crash of the gateway.
  insert(values);
  insert(values);
  return createLedgerSum(database);
}

const ROWS: readonly Row[] = [
  { at: 5, keyId: "a", costNanoUsd: 1 },
  { at: DAY_MS, keyId: "a", costNanoUsd: 10, targetId: "openai/m", model: "m", endUser: "c" },
  {
    at: DAY_MS + 1,
    userId: "u",
    organizationId: "o",
    costNanoUsd: 100,
    targetId: "open",
    model: "m",
    tags: ["red", "blue"],
  },
  {
    at: 3 * DAY_MS,
    teamId: "t",
    userId: "v",
    organizationId: "o",
    endUser: "c",
    costNanoUsd: 1_000,
    targetId: "openai/x/y",
    model: "x/y",
    modelGroup: "x/*",
    tags: ["blue", "blue"],
  },
  { at: 3 * DAY_MS, costNanoUsd: null, targetId: "openai/m" },
  { at: 9 * DAY_MS, costNanoUsd: 10_000 },
];

/** Ledgers of all rows, by how many there were before the sums. */
const ledgers = new Map<number, LedgerSum>();
beforeAll(async () => {
  for (const before of [0, 3, ROWS.length]) ledgers.set(before, await ledgerOf(ROWS, before));
});

test.each([
  [{}, 11_111],
  [{ fromMs: DAY_MS }, 11_110],
  [{ fromMs: DAY_MS + 1 }, 11_100],
  [{ fromMs: DAY_MS + HOUR_MS / 2 }, 11_000],
  [{ toMs: DAY_MS }, 1],
  [{ toMs: DAY_MS + 1 }, 11],
  [{ keyId: "a", fromMs: 6, toMs: DAY_MS + HOUR_MS }, 10],
  [{ endUser: "c", fromMs: DAY_MS - 1, toMs: 3 * DAY_MS + 1 }, 1_010],
  [{ keyId: "" }, 0],
  [{ keyId: "a" }, 11],
  [{ keyId: "a", fromMs: 6 }, 10],
  [{ userId: "u" }, 100],
  [{ teamId: "t" }, 1_000],
  [{ tag: "blue" }, 1_100],
  [{ tag: "blue", fromMs: DAY_MS + 2 }, 1_000],
  [{ tag: "blu" }, 0],
  [{ provider: "open" }, 100],
  [{ provider: "openai" }, 1_010],
  [{ provider: "openai", fromMs: DAY_MS + 1 }, 1_000],
  [{ provider: "openai", tag: "blue", fromMs: 2 * DAY_MS }, 1_000],
  [{ organizationId: "o" }, 1_100],
  [{ organizationId: "o", models: ["m"] }, 100],
  [{ organizationId: "o", models: ["m", "x/*"] }, 1_100],
  [{ organizationId: "p" }, 0],
  [{ keyId: "a", models: ["m"] }, 10],
  [{ keyId: "a", models: ["n", "l"] }, 0],
  [{ keyId: "a", models: [] }, 0],
  [{ models: ["*"] }, 11_111],
  [{ models: ["x/*"], fromMs: DAY_MS }, 1_000],
  [{ userId: "u", teamId: "t" }, 0],
  [{ teamId: "t", userId: "v" }, 1_000],
  [{ endUser: "c" }, 1_010],
  [{ endUser: "c", organizationId: "o" }, 1_000],
  [{ endUser: "c", fromMs: DAY_MS + 1 }, 1_000],
  [{ endUser: "c", tag: "blue" }, 1_000],
])("the rows of %j cost %i, whether they are older than the sums or not", (filter, expected) => {
  for (const [before, sum] of ledgers) {
    expect([...sum(filter)].flat(), `${before} rows before the sums`).toEqual([expected]);
  }
});
