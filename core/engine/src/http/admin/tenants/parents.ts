/** What a record belongs to, for warnings about limits that can never be reached. */

import type { Amounts } from "@sluice/contract";
import { declaredOf, type TenantRouteParts } from "./parts.ts";
import { type Parent, unreachable } from "../../../config/tenants/unreachable.ts";

/** The references of a record. */
export interface References {
  readonly organizationId?: string | null;
  readonly teamId?: string | null;
  readonly userId?: string | null;
  readonly budgetId?: string | null;
}

type Parts = Pick<TenantRouteParts, "records" | "declaredTenants">;

/** Warnings about a record, as a member of an answer: absent where there are none. */
export async function warningsOf(
  amounts: Partial<Amounts>,
  references: References,
  parts: Parts,
): Promise<{ readonly warnings?: readonly string[] }> {
  const warnings = unreachable(amounts, await parentsOf(references, parts));
  return warnings.length === 0 ? {} : { warnings };
}

async function parentsOf(
  { organizationId, teamId, userId, budgetId }: References,
  parts: Parts,
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
