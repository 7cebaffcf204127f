/** The log of changes in PostgreSQL: no change is lost, in whatever order transactions commit. */

import type { ChangeLog, RecordChanges, Store } from "@sluice/contract";
import { customerOf, keyOf, memberOf, teamOf, userOf } from "@sluice/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pruneChanges } from "../../../plugins/store-postgres/src/changes/log.ts";
import { eventually } from "../support/eventually.ts";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

const signal = AbortSignal.timeout(120_000);

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`the log of changes in PostgreSQL ${way}`, () => {
    let database: TestDatabase;
    let store: Store & { readonly changes: ChangeLog };
    let other: Store;
    const clients: Client[] = [];

    async function connected(): Promise<Client> {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      clients.push(client);
      return client;
    }
    const read = async (): Promise<RecordChanges> => store.changes.read(signal);

    beforeAll(async () => {
      database = await createDatabaseOn({ pooled });
      store = (await database.store()) as typeof store;
      other = await database.store();
      await read();
    });
    afterAll(async () => {
      for (const client of clients) await client.end();
      await database?.drop();
    });

    it("names what another process changes, and nothing that changed nothing", async () => {
      const { teams, keys, tenants } = other;
      await teams.insert(teamOf("t"));
      await tenants?.user.insert(userOf("u"));
      await tenants?.membership.insert(memberOf("u", "t"));
      await tenants?.customer.insert(customerOf("c", ""));
      await keys.insert(keyOf("k", { teamId: "t", tags: ["tagged"] }));
      expect(await read()).toEqual([
        { kind: "team", ids: ["t"] },
        { kind: "user", ids: ["u"] },
        { kind: "membership", ids: ["u", "t"] },
        { kind: "customer", ids: ["", "c"] },
        { kind: "tag", ids: ["tagged"] },
        { kind: "key", ids: ["k"] },
      ]);
      await keys.update("none", { blocked: true });
      expect(await keys.insert(keyOf("k"))).toBe("taken");
      expect(await read()).toEqual([]);
      await keys.update("k", { blocked: true });
      await teams.delete("t", "delete");
      expect(new Set((await read())?.map(({ kind, ids }) => `${kind} ${ids?.join(" ")}`))).toEqual(
        new Set(["key k", "tag tagged", "membership u t", "team t"]),
      );
    });

    it("passes the changes of its own process on before the write resolves", async () => {
      const seen: RecordChanges[] = [];
      const stop = store.changes.listen({
        onWake: () => undefined,
        onWrite: (changes) => seen.push(changes),
      });
      await store.teams.insert(teamOf("own"));
      expect(seen).toEqual([[{ kind: "team", ids: ["own"] }]]);
      expect(await read()).toEqual([]);
      stop();
    });

    it("has each change once, also of transactions that commit late and out of order", async () => {
      const count = 60;
      for (let index = 0; index < count; index++) await other.keys.insert(keyOf(`late-${index}`));
      const writers = await Promise.all([connected(), connected(), connected()]);
      await read();
      const committed: string[] = [];
      const found: string[] = [];
      const state = { isOver: false };
      const write = async (writer: Client, index: number): Promise<void> => {
        await writer.query("begin");
        await writer.query("update virtual_key set blocked = 1 where id = $1", [`late-${index}`]);
        await writer.query(`select pg_sleep(${(index * 7) % 13}::float / 500)`);
        const isKept = index % 5 !== 0;
        await writer.query(isKept ? "commit" : "rollback");
        if (isKept) committed.push(`late-${index}`);
      };
      const writing = writers.map(async (writer, first) => {
        for (let index = first; index < count; index += writers.length) await write(writer, index);
      });
      const take = async (): Promise<void> => {
        for (const { ids } of (await read()) ?? []) found.push(ids?.[0] ?? "");
      };
      const reading = (async () => {
        while (!state.isOver) await take();
      })();
      await Promise.all(writing);
      state.isOver = true;
      await reading;
      await take();
      expect(found.toSorted()).toEqual(committed.toSorted());
    });

    it("does not wait for a transaction that stays open", async () => {
      const [open] = [await connected()];
      await open.query("begin");
      await open.query("update virtual_key set blocked = 0 where id = 'late-1'");
      await other.keys.update("late-2", { blocked: false });
      expect(await read()).toEqual([{ kind: "key", ids: ["late-2"] }]);
      await open.query("commit");
      expect(await read()).toEqual([{ kind: "key", ids: ["late-1"] }]);
    });

    it("names the kind alone where a statement changes many records", async () => {
      await database.query(
        "insert into tenant_user (id, folded, created_at_ms) select 'many-' || n, 'many-' || n, 0 from generate_series(1, 1001) n",
      );
      expect(await read()).toEqual([{ kind: "user", ids: undefined }]);
    });

    it("reads everything anew where rows that it had not read are pruned, or too many came", async () => {
      const writer = await connected();
      await other.keys.update("late-3", { blocked: false });
      await writer.query("update record_change set at = at - interval '2 hours'");
      // Transactions of other databases of the server, which are under way, keep rows too.
      await eventually("the row to be pruned", async () => {
        await pruneChanges(writer as never);
        return (await writer.query("select from record_change")).rowCount === 0;
      });
      expect(await read()).toBeUndefined();
      expect(await read()).toEqual([]);
      await writer.query(
        "insert into record_change (kind, ids) select 'key', array[n::text] from generate_series(1, 5001) n",
      );
      expect(await read()).toBeUndefined();
      expect(await read()).toEqual([]);
    });

    it("keeps what a failed read did not return", async () => {
      await other.keys.update("late-4", { blocked: false });
      await expect(store.changes.read(AbortSignal.abort(new Error("left")))).rejects.toThrow(
        "left",
      );
      expect(await read()).toEqual([{ kind: "key", ids: ["late-4"] }]);
    });

    it.skipIf(pooled)(
      "is woken by another process's change, and after its connection is lost",
      async () => {
        let woken = 0;
        store.changes.listen({ onWake: () => (woken += 1), onWrite: () => undefined });
        await other.keys.update("late-5", { blocked: false });
        await eventually("a notification", () => woken > 0);
        await database.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'with here as%'",
        );
        await other.keys.update("late-6", { blocked: false });
        const found = await eventually("the read after the loss", () =>
          read().catch(() => undefined),
        );
        expect(found).toContainEqual({ kind: "key", ids: ["late-6"] });
        woken = 0;
        await other.keys.update("late-7", { blocked: false });
        await eventually("another notification", () => woken > 0);
      },
    );
  });
