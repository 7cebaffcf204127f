/** The parts of the process that self-service needs. */

import type { KeyStore, TeamRecord, TenantStore } from "@sluice/contract";
import type { KeyDefaults } from "../../config/snapshot.ts";
import type { Audit } from "../access/audit.ts";
import type { BudgetParts } from "../admin/budget-view.ts";
import type { PlaceParts } from "../admin/locate.ts";

/** The parts of self-service. */
export interface SelfParts extends PlaceParts, BudgetParts {
  readonly keys: KeyStore;
  readonly tenants: TenantStore | undefined;
  readonly audit: Audit;
  /** Limits of new keys that name none of their own. */
  readonly defaults: () => KeyDefaults;
}

/** What counts of a team here. The configuration wins over the store. */
export type OwnTeam = Omit<TeamRecord, "createdAtMs" | "managedBy">;

/** The team of an id; `undefined` without one. */
export async function teamOf(
  { declaredTeams, teams }: Pick<SelfParts, "declaredTeams" | "teams">,
  id: string | null | undefined,
): Promise<OwnTeam | undefined> {
  if (id == null) return undefined;
  return declaredTeams().find((team) => team.id === id) ?? (await teams.find(id));
}
