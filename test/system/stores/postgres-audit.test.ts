/** The audit in PostgreSQL: two stores on one database write one chain. */

import {
  AUDIT_START,
  type AuditEntry,
  type AuditLine,
  auditText,
  EMPTY_TEAM,
  type Store,
} from "@sluice/contract";
import { hash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

let database: TestDatabase;
let first: Store;
let second: Store;

function entry(object: string, parts: Partial<AuditEntry> = {}): AuditEntry {
  return {
    atMs: 1_900_000_000_123,
    actor: "master",
    userId: null,
    session: null,
    address: "127.0.0.1",
    action: "team.update",
    object,
    organizationId: null,
    teamId: null,
    outcome: "done",
    before: { rpm_limit: 1 },
    after: { rpm_limit: null, alias: "ü\u0000\u2028", 2: "b", 1: "a" },
    requestId: "r1",
    ...parts,
  };
}

/** The first line that does not continue the chain; `undefined` when all do. */
function breakOf(lines: readonly AuditLine[]): number | undefined {
  let prevHash = AUDIT_START;
  for (const [index, line] of lines.entries()) {
    if (line.seq !== index + 1 || line.prevHash !== prevHash) return index + 1;
    if (hash("sha256", auditText(line), "hex") !== line.hash) return index + 1;
    prevHash = line.hash;
  }
  return undefined;
}

const linesOf = async (store: Store): Promise<readonly AuditLine[]> =>
  (await store.audit?.list({ order: "oldest", limit: 1_000 })) ?? [];
const teamsOf = (store: Store, object: string): Store["teams"] =>
  (store.audited?.(entry(object)) ?? store).teams;

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`the audit in PostgreSQL ${way}`, () => {
    beforeAll(async () => {
      database = await createDatabaseOn({ pooled });
      first = await database.store();
      second = await database.store();
      await first.teams.insert({ ...EMPTY_TEAM, id: "t1", createdAtMs: 1 });
    });
    afterAll(async () => database?.drop());

    it("has one chain of two stores, and a line for each change alone", async () => {
      const writes: Promise<unknown>[] = [];
      for (let round = 1; round <= 40; round++) {
        const store = round % 2 === 0 ? first : second;
        writes.push(teamsOf(store, `team:t1:${round}`).update("t1", { rpm: round }));
        writes.push(teamsOf(store, "team:none").update("none", { rpm: round }));
        if (store.audit !== undefined)
          writes.push(store.audit.append(entry(`refusal:${round}`, { outcome: "refused" })));
      }
      await Promise.all(writes);
      const lines = await linesOf(first);
      expect(lines).toHaveLength(80);
      expect(breakOf(lines)).toBeUndefined();
      expect(lines[0]).toMatchObject({ before: { rpm_limit: 1 }, requestId: "r1" });
      expect(await second.audit?.head()).toEqual({ seq: 80, hash: lines.at(-1)?.hash });
    });

    it("takes a change back whose line cannot be written, and changes no line", async () => {
      await first.teams.update("t1", { rpm: 1 });
      await database.query("alter table audit add constraint full_now check (seq <= 80)");
      await expect(teamsOf(first, "team:t1").update("t1", { rpm: 2 })).rejects.toThrow("full_now");
      await expect(teamsOf(first, "team:t1").delete("t1", "delete")).rejects.toThrow("full_now");
      expect(await first.teams.find("t1")).toMatchObject({ rpm: 1 });
      await database.query("alter table audit drop constraint full_now");
      expect(await teamsOf(first, "team:t1").update("t1", { rpm: 2 })).toMatchObject({ rpm: 2 });
      await expect(database.query("update audit set actor = 'y'")).rejects.toThrow("never changed");
    });

    it("deletes lines from before a time, with a line about it, twice at once too", async () => {
      const before = await linesOf(first);
      const about = ({ seq, hash: last }: { seq: number; hash: string }) =>
        entry("audit", { atMs: 1_900_000_100_000, after: { through: seq, hash: last } });
      await Promise.all(
        [first, second].map(async (store) => store.audit?.prune?.(1_900_000_100_000, about)),
      );
      // The last line stays until another one continues its chain.
      const left = await linesOf(second);
      const [earliest] = left;
      expect(earliest?.seq).toBeGreaterThanOrEqual(before.at(-1)?.seq ?? 0);
      expect(left.at(-1)).toMatchObject({
        after: { through: (earliest?.seq ?? 0) - 1, hash: earliest?.prevHash },
      });
      const linked = left.slice(1).map(({ prevHash }, at) => prevHash === left[at]?.hash);
      expect(linked).toEqual(linked.map(() => true));
    });
  });
