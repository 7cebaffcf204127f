/** What the audit says about a tenant. */

import type { TenantRecords } from "@sluice/contract";
import type { AuditChange } from "../../access/audit.ts";
import type { KindRoutes, RoutedKind } from "./kinds.ts";

/** The record that is changed, and its place. */
export function changeOf<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  record: TenantRecords[Kind],
): AuditChange {
  return { kind: kind.kind, id: record.id, place: kind.object(record).places[0] };
}
