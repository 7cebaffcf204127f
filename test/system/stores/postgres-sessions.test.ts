/** Sessions of browsers in PostgreSQL: two stores on one database see the same ones. */

import type { SessionRecord, Store } from "@sluice/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

let database: TestDatabase;
let first: Store;
let second: Store;

const record = (digest: string, parts: Partial<SessionRecord> = {}): SessionRecord => ({
  id: `ses_${digest}`,
  kind: "session",
  digest,
  actor: "master",
  credential: "c",
  master: "m",
  address: null,
  createdAtMs: 1_900_000_000_000,
  seenAtMs: 1_900_000_000_000,
  expiresAtMs: 1_900_000_100_000,
  ...parts,
});

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`sessions in PostgreSQL ${way}`, () => {
    beforeAll(async () => {
      database = await createDatabaseOn({ pooled });
      first = await database.store();
      second = await database.store();
    });
    afterAll(async () => database?.drop());

    it("are found, noted and listed by both stores", async () => {
      await first.sessions?.insert(record("a"));
      await first.sessions?.insert(record("b", { createdAtMs: 1_900_000_000_001, address: "::1" }));
      await first.sessions?.insert(record("c", { kind: "code" }));
      expect(await second.sessions?.find("a")).toEqual(record("a"));
      expect(await second.sessions?.find("x")).toBeUndefined();
      await second.sessions?.seen("a", 1_900_000_050_000);
      await first.sessions?.seen("a", 1_900_000_040_000);
      expect((await first.sessions?.find("a"))?.seenAtMs).toBe(1_900_000_050_000);
      expect((await second.sessions?.list(10))?.map(({ digest }) => digest)).toEqual(["b", "a"]);
    });

    it("are taken once by two stores at once, and expire", async () => {
      const taken = await Promise.all(
        [first, second, first, second].map((store) => store.sessions?.take("c")),
      );
      expect(taken.filter((found) => found !== undefined)).toEqual([record("c", { kind: "code" })]);
      await first.sessions?.expire(1_900_000_000_000, 1_900_000_020_000);
      expect((await second.sessions?.list(10))?.map(({ digest }) => digest)).toEqual(["a"]);
      await first.sessions?.expire(1_900_000_100_000, 0);
      expect(await second.sessions?.list(10)).toEqual([]);
    });
  });
