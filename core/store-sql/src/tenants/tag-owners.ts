/** Tags on records: which ones have an owner, and who that is. */

import type { KeyStore, TagOwner } from "@sluice/contract";
import type { Kysely } from "kysely";
import { parseJson } from "@sluice/kit";
import type { Schema } from "../schema.ts";

const MAX_OWNERS = 100;

/** The questions about tags. The table is kept by triggers of the database. */
export function tagReads(
  database: () => Kysely<Schema>,
): Required<Pick<KeyStore, "ownedTags" | "tagOwners">> {
  return {
    async ownedTags(tags) {
      if (tags.length === 0) return [];
      const rows = await database()
        .selectFrom("owned_tag")
        .select("tag")
        .distinct()
        .where("tag", "in", tags)
        .execute();
      return rows.map(({ tag }) => tag);
    },
    async tagOwners(tag) {
      const rows = await database()
        .selectFrom("owned_tag")
        .select("owner")
        .where("tag", "=", tag)
        .orderBy("owner")
        .limit(MAX_OWNERS)
        .execute();
      return rows.map(({ owner }) => toTagOwner(owner));
    },
  };
}

/** Reads `table:id`; memberships and customers have two ids, in JSON. */
function toTagOwner(owner: string): TagOwner {
  const colon = owner.indexOf(":");
  const [table, id] = [owner.slice(0, colon), owner.slice(colon + 1)];
  switch (table) {
    case "virtual_key":
      return { kind: "key", id };
    case "tenant_user":
      return { kind: "user", id };
    case "organization":
      return { kind: "organization", id };
    case "customer":
      return { kind: "customer", organizationId: pairOf(id)[0] };
    case "membership":
      return { kind: "membership", teamId: pairOf(id)[1] };
    default:
      return { kind: "team", teamId: id };
  }
}

function pairOf(id: string): [string, string] {
  return parseJson(id) as [string, string];
}
