/** What a record belongs to, for warnings about limits that can never be reached. */

import type { Amounts } from "@sluice/contract";
import { NO_TENANTS } from "../../../config/tenants/declared-tenants.ts";
import { declaredOf, type TenantRouteParts } from "./parts.ts";
import { type Parent, unreachable } from "../../../config/tenants/unreachable.ts";

/** The references of a record. */
export interface References {
  readonly organizationId?: string | null;
  readonly teamId?: string | null;
  readonly userId?: string | null;
  readonly budgetId?: string | null;
}

/** Where parents are found. `records` absent: nowhere. */
export interface WarningParts {
  readonly records?: TenantRouteParts["records"] | undefined;
  readonly declaredTenants?: TenantRouteParts["declaredTenants"];
}

/** Warnings about a record, as a member of an answer: absent where there are none. */
export async function warningsOf(
  amounts: Partial<Amounts>,
  references: References,
  { records, declaredTenants = () => NO_TENANTS }: WarningParts,
): Promise<{ readonly warnings?: readonly string[] }> {
  if (records === undefined) return {};
  const parts = { records, declaredTenants };
  const warnings = unreachable(amounts, await parentsOf(references, parts));
  return warnings.length === 0 ? {} : { warnings };
}

async function parentsOf(
  { organizationId, teamId, userId, budgetId }: References,
  parts: Pick<TenantRouteParts, "records" | "declaredTenants">,
): Promise<readonly Parent[]> {
  const { teams, tenants } = parts.records;
  const found: (Parent | undefined)[] = [];
  const team = teamId == null ? undefined : await teams.find(teamId);
  if (teamId != null) found.push(parent("team", teamId, team));
  for (const [kind, id] of [
    ["organization", organizationId ?? team?.organizationId],
    ["user", userId],
    ["budget", budgetId],
  ] as const) {
    if (id == null || id === "") continue;
    const declared = declaredOf(parts, kind, (record) => record.id === id);
    found.push(parent(kind, id, declared ?? (await tenants[kind].find({ id }))));
  }
  return found.flatMap((one) => one ?? []);
}

function parent(
  kind: string,
  id: string,
  amounts: Partial<Amounts> | undefined,
): Parent | undefined {
  return amounts && { name: `the ${kind} ${JSON.stringify(id)}`, amounts };
}
