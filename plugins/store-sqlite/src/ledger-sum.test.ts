import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { SpendRow } from "@sluice/spec";
import { createLedgerSum } from "./ledger-sum.ts";

const DAY_MS = 86_400_000;

interface Row extends Partial<Pick<SpendRow, "keyId" | "userId" | "teamId" | "targetId" | "costNanoUsd" | "tags">> {
  readonly at: number;
}

function ledgerOf(rows: readonly Row[]) {
  const database = new DatabaseSync(":memory:");
  database.exec(
    "create table ledger (request_id text, key_id text, user_id text, team_id text, target_id text, tags text, cost_nano_usd integer, started_at_ms integer)",
  );
  const insert = database.prepare("insert into ledger values (?, ?, ?, ?, ?, ?, ?, ?)");
  for (const [index, { at, keyId, userId, teamId, targetId, tags, costNanoUsd }] of rows.entries()) {
    const found = tags === undefined ? null : JSON.stringify(tags);
    insert.run(`r${index}`, keyId ?? "k", userId ?? null, teamId ?? null, targetId ?? null, found, costNanoUsd ?? null, at);
  }
  return createLedgerSum(database);
}

test.each([
  [{}, 11_111],
  [{ fromMs: DAY_MS }, 11_110],
  [{ toMs: DAY_MS }, 1],
  [{ keyId: "a" }, 11],
  [{ userId: "u" }, 100],
  [{ teamId: "t" }, 1_000],
  [{ tag: "blue" }, 1_100],
  [{ tag: "blu" }, 0],
  [{ provider: "open" }, 100],
  [{ provider: "openai" }, 1_010],
  [{ provider: "openai", tag: "blue", fromMs: 2 * DAY_MS }, 1_000],
])("the rows of %j cost %i", (filter, expected) => {
  const sum = ledgerOf([
    { at: 5, keyId: "a", costNanoUsd: 1 },
    { at: DAY_MS, keyId: "a", costNanoUsd: 10, targetId: "openai/m" },
    { at: DAY_MS + 1, userId: "u", costNanoUsd: 100, targetId: "open", tags: ["red", "blue"] },
    { at: 3 * DAY_MS, teamId: "t", costNanoUsd: 1_000, targetId: "openai/x/y", tags: ["blue"] },
    { at: 3 * DAY_MS, costNanoUsd: null, targetId: "openai/m" },
    { at: 9 * DAY_MS, costNanoUsd: 10_000 },
  ]);
  expect([...sum(filter)].flat()).toEqual([expected]);
});
