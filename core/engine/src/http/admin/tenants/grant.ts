/** Whether the caller may grant what a change of a tenant grants. */

import type {
  AccessGroupRecord,
  BudgetRecord,
  CustomerRecord,
  OrganizationRecord,
  TenantRecords,
  UserRecord,
} from "@sluice/contract";
import type { AdminRequest } from "../../access/route.ts";
import type { RoutedKind } from "./kinds.ts";

/**
 * Throws `permission_denied` for a change that grants more than the caller has, or raises the
 * caller's own limits. `before` is absent of a new record, `after` of one that is deleted.
 */
export async function checkGrant<Kind extends RoutedKind>(
  kind: Kind,
  { grants, principal }: AdminRequest,
  before: TenantRecords[Kind] | undefined,
  after: TenantRecords[Kind] | undefined,
): Promise<void> {
  const change = { before, after } as { readonly before: unknown; readonly after: unknown };
  if (kind === "user")
    // A deletion takes what the user has.
    await grants.user(
      principal,
      change.before as UserRecord | undefined,
      (change.after ?? change.before) as UserRecord,
    );
  if (kind === "customer")
    await grants.customer(
      principal,
      change.before as CustomerRecord | undefined,
      change.after as CustomerRecord | undefined,
    );
  if (kind === "budget")
    await grants.budget(
      principal,
      change.before as BudgetRecord | undefined,
      change.after as BudgetRecord | undefined,
    );
  if (kind === "access_group")
    await grants.accessGroup(
      principal,
      change.before as AccessGroupRecord | undefined,
      change.after as AccessGroupRecord | undefined,
    );
  if (before === undefined || after === undefined) return;
  if (kind === "organization")
    await grants.organization(
      principal,
      change.before as OrganizationRecord,
      change.after as OrganizationRecord,
    );
}
