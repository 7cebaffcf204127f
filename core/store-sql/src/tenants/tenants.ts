/** The tables of tenants. */

import {
  foldedTenantId,
  type TenantKind,
  type TenantName,
  type TenantStore,
  type TenantTable,
} from "@sluice/contract";
import { sql } from "kysely";
import { deleted, deleteOrBlock } from "./deletions.ts";
import { type Condition, isOneOf } from "./shape.ts";
import {
  ACCESS_GROUP,
  BUDGET,
  CUSTOMER,
  MEMBERSHIP,
  ORGANIZATION,
  type ShapeOf,
  USER,
} from "./shapes.ts";
import { createTable, isRow, type Place } from "./table.ts";

/** Makes the tables. */
export function createTenantStore(place: Place): TenantStore {
  return {
    organization: tenantTable(ORGANIZATION, place),
    user: tenantTable(USER, place, ({ id }) => sql<boolean>`user_id = ${id}`),
    membership: tenantTable(
      MEMBERSHIP,
      place,
      ({ userId, teamId }) => sql<boolean>`user_id = ${userId} and team_id = ${teamId}`,
    ),
    customer: tenantTable(CUSTOMER, place),
    budget: tenantTable(BUDGET, place),
    access_group: tenantTable(ACCESS_GROUP, place),
    names: (kind, ids) => namesOf(place, kind, ids),
    async similarUser(id) {
      const { rows } = await sql<{ readonly id: string; readonly deleted: number | null }>`
        select id, deleted_at_ms deleted from kept_name
          where kind = 'user' and folded = ${foldedTenantId(id)}
          order by case when id = ${id} then 0 else 1 end limit 1`.execute(place.database());
      const [found] = rows;
      return found && { id: found.id, isDeleted: found.deleted !== null };
    },
  };
}

/** `keysOf` are the keys that go with a record. */
function tenantTable<Kind extends TenantKind, Row extends object>(
  shape: ShapeOf<Kind, Row>,
  place: Place,
  keysOf?: (id: Parameters<TenantTable<Kind>["find"]>[0]) => Condition,
): TenantTable<Kind> {
  const table = createTable(shape, place);
  return {
    ...table,
    async delete(id, keys) {
      const which = keysOf?.(id);
      const isThere = sql<boolean>`exists (select 1 from ${sql.table(shape.table)} where ${isRow(shape, id)})`;
      const withKeys =
        keys === undefined || which === undefined
          ? undefined
          : deleteOrBlock(place.writer(), sql<boolean>`${which} and ${isThere}`, keys);
      const record = place.writer().deleteFrom(shape.table).where(isRow(shape, id));
      return deleted(place, withKeys, record);
    },
  };
}

type Named = Parameters<TenantStore["names"]>[0];

const LIVE: Readonly<Record<Named, { table: string; organization: string; team: string }>> = {
  organization: { table: "organization", organization: "id", team: "null" },
  team: { table: "team", organization: "organization_id", team: "id" },
  user: { table: "tenant_user", organization: "null", team: "null" },
  key: {
    table: "virtual_key",
    organization: "nullif(effective_organization_id, '')",
    team: "team_id",
  },
};

async function namesOf(
  { database }: Place,
  kind: Named,
  ids: readonly string[],
): Promise<readonly TenantName[]> {
  const { table, organization, team } = LIVE[kind];
  const { rows } = await sql<{
    readonly id: string;
    readonly alias: string | null;
    readonly organization_id: string | null;
    readonly team_id: string | null;
    readonly is_deleted: number;
  }>`select id, alias, ${sql.raw(organization)} organization_id, ${sql.raw(team)} team_id, 0 is_deleted
      from ${sql.table(table)} where ${isOneOf("id", ids)}
    union all select id, alias, organization_id, team_id, 1 from kept_name
      where kind = ${kind} and deleted_at_ms is not null and ${isOneOf("id", ids)}`.execute(
    database(),
  );
  return rows.map((row) => ({
    id: row.id,
    alias: row.alias,
    organizationId: row.organization_id,
    teamId: row.team_id,
    isDeleted: row.is_deleted === 1,
  }));
}
