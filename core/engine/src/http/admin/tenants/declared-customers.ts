/** Declared customers in lists: they have no row in the store. */

import type { JsonObject, TenantQuery } from "@sluice/contract";
import { KINDS } from "./kinds.ts";
import { declaredRecord } from "./locate.ts";
import type { TenantRouteParts } from "./parts.ts";

/** Those of a query, on its first page. One that the store has as well is at its place there. */
export async function declaredCustomers(
  { after, organizationId, budgetId, search = "", within }: TenantQuery,
  { declaredTenants, records }: TenantRouteParts,
): Promise<readonly JsonObject[]> {
  if (after !== undefined) return [];
  const views: JsonObject[] = [];
  for (const customer of declaredTenants().customer) {
    const isMeant =
      (organizationId === undefined || organizationId === customer.organizationId) &&
      (budgetId === undefined || budgetId === customer.budgetId) &&
      (within === undefined || within.organizations.includes(customer.organizationId)) &&
      customer.id.startsWith(search);
    if (!isMeant || (await records.tenants.customer.find(customer)) !== undefined) continue;
    const record = declaredRecord(customer, undefined);
    if (record !== undefined) views.push(KINDS.customer.view(record));
  }
  return views;
}
