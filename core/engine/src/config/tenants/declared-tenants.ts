/** Tenants that the configuration declares, but for keys and teams. */

import type { TenantKind, TenantRecords } from "@sluice/contract";
import type { Position } from "../files/position.ts";

/** A declared record. It wins over one of the store with the same id. */
export type DeclaredTenant<Kind extends TenantKind> = Omit<
  TenantRecords[Kind],
  "createdAtMs" | "managedBy"
> & { readonly at: Position };

/** The declared records by kind. */
export type DeclaredTenants = {
  readonly [Kind in TenantKind]: readonly DeclaredTenant<Kind>[];
};

/** Nothing is declared. */
export const NO_TENANTS: DeclaredTenants = Object.freeze({
  organization: Object.freeze([]),
  user: Object.freeze([]),
  membership: Object.freeze([]),
  customer: Object.freeze([]),
  budget: Object.freeze([]),
  access_group: Object.freeze([]),
});
