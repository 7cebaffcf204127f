/** Virtual keys at rest. */

import {
  type KeyChanges,
  type KeyConflict,
  type KeyQuery,
  type KeyRecord,
  type KeyStore,
  type SpendScope,
} from "@sluice/contract";
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { KeyTable, Schema } from "../schema.ts";
import { withoutNul } from "../text.ts";
import type { RefusalOf } from "./conflicts.ts";
import { keyConditions } from "./key-filter.ts";
import { keyPage } from "./key-page.ts";
import type { Place } from "./table.ts";
import {
  flag,
  jsonText,
  limitColumns,
  limitMembers,
  nullableText,
  present,
  readAliases,
} from "./limits.ts";
import { anyOf, isOneOf } from "./shape.ts";
import { tagReads } from "./tag-owners.ts";

/**
 * Makes the key store. Indexes and triggers of the database enforce unique values and existing
 * teams: no other writer can act between a check and a write.
 */
export function createKeyStore(place: Place): KeyStore {
  const database = place.database as unknown as () => Kysely<Schema>;
  const writer = place.writer as unknown as () => Kysely<Schema>;
  const reads = keyReads(database);
  const lists = place.lists as unknown as () => Kysely<Schema>;
  return {
    ...reads,
    page: async (query) => keyPage(lists(), query, toRecord),
    ...tagReads(database),
    ...keyWrites(writer, reads.find, place.refusalOf),
    ...digestWrites(writer),
  };
}

type Reads = "find" | "findByDigest" | "wasImported" | "list" | "ownedTags" | "tagOwners";
type RowReads = Exclude<Reads, "ownedTags" | "tagOwners">;

function keyReads(database: () => Kysely<Schema>): Required<Pick<KeyStore, RowReads>> {
  let byDigest: CompiledQuery<KeyTable> | undefined;
  return {
    async find(id) {
      const row = await database()
        .selectFrom("virtual_key")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async findByDigest(digest, other = digest) {
      // Each key that is not remembered asks for it, and to build it costs more than to run it.
      const digests = [digest, other];
      byDigest ??= database()
        .selectFrom("virtual_key")
        .selectAll()
        .where((at) => at.or([at("digest", "in", digests), at("previous_digest", "in", digests)]))
        .compile();
      const { rows } = await database().executeQuery<KeyTable>({
        ...byDigest,
        parameters: [...digests, ...digests],
      });
      const [row] = rows;
      return row && toRecord(row);
    },
    async wasImported(id) {
      const row = await database()
        .selectFrom("imported_key")
        .select("id")
        .where("id", "=", id)
        .executeTakeFirst();
      return row !== undefined;
    },
    async list(query) {
      const { total } = await matching(database(), query)
        .select(({ fn }) => fn.countAll<number>().as("total"))
        .executeTakeFirstOrThrow();
      const rows = await matching(database(), query)
        .selectAll()
        .orderBy("created_at_ms")
        .orderBy("id")
        .limit(query.limit)
        .offset(query.offset)
        .execute();
      return { keys: rows.map(toRecord), total };
    },
  };
}

type DigestWrites = "rotate" | "replaceDigest";

function digestWrites(writer: () => Kysely<Schema>): Required<Pick<KeyStore, DigestWrites>> {
  return {
    async rotate(id, { digest, last4, previousUntilMs, issuedBy }) {
      const row = await writer()
        .updateTable("virtual_key")
        .set(({ ref }) => ({
          digest,
          last4,
          // On the right stands the row as it was, so a rotation in between is not lost.
          previous_digest: previousUntilMs === null ? null : ref("digest"),
          previous_until_ms: previousUntilMs,
          ...present({ issued_by: issuedBy }),
        }))
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async replaceDigest(id, from, { digest, last4 }) {
      await writer()
        .updateTable("virtual_key")
        .set((at) => ({
          digest: at.case().when("digest", "=", from).then(digest).else(at.ref("digest")).end(),
          last4: at.case().when("digest", "=", from).then(last4).else(at.ref("last4")).end(),
          previous_digest: at
            .case()
            .when("previous_digest", "=", from)
            .then(digest)
            .else(at.ref("previous_digest"))
            .end(),
        }))
        .where("id", "=", id)
        .where((at) => at.or([at("digest", "=", from), at("previous_digest", "=", from)]))
        .execute();
    },
  };
}

function keyWrites(
  writer: () => Kysely<Schema>,
  find: KeyStore["find"],
  refusalOf: RefusalOf,
): Omit<KeyStore, Reads | DigestWrites | "page"> {
  return {
    async insert(key) {
      const row = { ...toColumns(key), ...rowOf(key) } as KeyTable;
      const effective = effectiveOrganization(key.teamId, key.organizationId);
      try {
        await writer()
          .insertInto("virtual_key")
          .values({ ...row, effective_organization_id: effective })
          .execute();
        return "added";
      } catch (error) {
        return conflictOf(refusalOf(error), error);
      }
    },
    async update(id, changes) {
      const columns = toColumns(changes);
      if (Object.keys(columns).length === 0) return find(id);
      try {
        const row = await writer()
          .updateTable("virtual_key")
          .set({ ...columns, ...moved(changes) })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst();
        return row && toRecord(row);
      } catch (error) {
        return conflictOf(refusalOf(error), error);
      }
    },
    async delete(id) {
      const result = await writer()
        .deleteFrom("virtual_key")
        .where("id", "=", id)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}

/**
 * The organization of a key: that of its team, else its own. `undefined` is the value that the row
 * has.
 */
export function effectiveOrganization(
  teamId: string | null | undefined,
  organizationId: string | null | undefined,
): RawBuilder<string> {
  const team = teamId === undefined ? sql.ref("virtual_key.team_id") : sql`${teamId}`;
  const own =
    organizationId === undefined ? sql.ref("virtual_key.organization_id") : sql`${organizationId}`;
  return sql<string>`coalesce((select organization_id from team where id = ${team}), ${own}, '')`;
}

/** The organization of a key whose team or organization changes. */
function moved({ teamId, organizationId }: KeyChanges): {
  effective_organization_id?: RawBuilder<string>;
} {
  if (teamId === undefined && organizationId === undefined) return {};
  return { effective_organization_id: effectiveOrganization(teamId, organizationId) };
}

function matching(database: Kysely<Schema>, query: KeyQuery) {
  const { within } = query;
  let rows = database.selectFrom("virtual_key");
  for (const condition of keyConditions(query)) rows = rows.where(condition);
  if (within === undefined) return rows;
  return rows.where(
    anyOf(
      isOneOf("effective_organization_id", within.organizations),
      isOneOf("team_id", within.teams),
      isOneOf("user_id", within.users),
    ),
  );
}

/** What the triggers of keys raise, and the indexes refuse. */
const CONFLICTS: ReadonlyMap<string, KeyConflict> = new Map([
  ["taken", "taken"],
  ["alias", "taken"],
  ["no-team", "no-team"],
  ["imported", "imported"],
  ["missing", "missing"],
  ["border", "border"],
]);

function conflictOf(refusal: string, error: unknown): KeyConflict {
  const conflict = CONFLICTS.get(refusal);
  if (conflict === undefined) throw error;
  return conflict;
}

function toColumns(key: KeyChanges): Partial<KeyTable> {
  return {
    ...limitColumns(key),
    ...present({
      spend_scope: key.spendScope,
      user_id: nullableText(key.userId),
      team_id: nullableText(key.teamId),
      organization_id: nullableText(key.organizationId),
      customer_id: nullableText(key.customerId),
      may_name_customers: flag(key.mayNameCustomers),
      model_aliases: jsonText(key.modelAliases),
      admin: flag(key.admin),
    }),
  };
}

/** The columns that are written when a key is made, and by no update. */
function rowOf(key: KeyRecord): Partial<KeyTable> {
  return {
    id: withoutNul(key.id),
    digest: key.digest,
    last4: key.last4,
    previous_digest: key.previousDigest,
    previous_until_ms: key.previousUntilMs,
    issued_by: key.issuedBy,
    made_with: key.madeWith,
    created_at_ms: key.createdAtMs,
  };
}

/** A row of the table of keys as a record. */
export function toRecord(row: KeyTable): KeyRecord {
  return {
    id: row.id,
    digest: row.digest,
    last4: row.last4,
    previousDigest: row.previous_digest,
    previousUntilMs: row.previous_until_ms,
    ...limitMembers(row),
    spendScope: row.spend_scope as SpendScope,
    userId: row.user_id,
    teamId: row.team_id,
    organizationId: row.organization_id,
    customerId: row.customer_id,
    mayNameCustomers: row.may_name_customers === 1,
    modelAliases: readAliases(row.model_aliases),
    admin: row.admin === 1,
    issuedBy: row.issued_by,
    madeWith: row.made_with,
    createdAtMs: row.created_at_ms,
  };
}
