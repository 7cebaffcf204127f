/** Records of the store as they count: where a file declares one, the file's. */

import type {
  TeamStore,
  TenantId,
  TenantKind,
  TenantRecords,
  TenantStore,
  TenantTable,
} from "@sluice/contract";
import type { DeclaredTenants } from "../../config/tenants/declared-tenants.ts";
import type { DeclaredTeam } from "../../config/snapshot.ts";

/** What the live files declare. */
export interface DeclaredRecords {
  readonly teams: () => readonly DeclaredTeam[];
  readonly tenants: () => DeclaredTenants;
}

/** The reading of teams with those of the files. */
export function teamsWithDeclared(
  teams: TeamStore,
  { teams: declared }: DeclaredRecords,
): TeamStore {
  const counted = <Team extends { readonly id: string }>(team: Team): Team => {
    const written = declared().find(({ id }) => id === team.id);
    return written === undefined ? team : { ...team, ...written };
  };
  return {
    ...teams,
    async find(id) {
      const team = await teams.find(id);
      return team && counted(team);
    },
    async list(query) {
      const page = await teams.list(query);
      return { ...page, records: page.records.map(counted) };
    },
  };
}

/** The reading of tenants with those of the files. */
export function tenantsWithDeclared(
  tenants: TenantStore,
  { tenants: declared }: DeclaredRecords,
): TenantStore {
  const table = <Kind extends TenantKind>(
    kind: Kind,
    idOf: (record: TenantId<Kind>) => string,
  ): TenantTable<Kind> => {
    const stored = tenants[kind] as unknown as TenantTable<Kind>;
    const counted = (record: TenantRecords[Kind]): TenantRecords[Kind] => {
      const id = idOf(record as unknown as TenantId<Kind>);
      const written = declared()[kind].find((one) => idOf(one as unknown as TenantId<Kind>) === id);
      return written === undefined ? record : { ...record, ...written };
    };
    return {
      ...stored,
      async find(id) {
        const record = await stored.find(id);
        return record && counted(record);
      },
      async list(query) {
        const page = await stored.list(query);
        return { ...page, records: page.records.map(counted) };
      },
    };
  };
  return {
    ...tenants,
    organization: table("organization", ({ id }) => id),
    user: table("user", ({ id }) => id),
    membership: table("membership", ({ userId, teamId }) => JSON.stringify([userId, teamId])),
    budget: table("budget", ({ id }) => id),
    access_group: table("access_group", ({ id }) => id),
  };
}
