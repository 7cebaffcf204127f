/** What the routes of tenants are made from. */

import {
  type Clock,
  GatewayError,
  type Log,
  type Store,
  type TenantKind,
  type TenantStore,
} from "@sluice/contract";
import type { DeclaredTenant, DeclaredTenants } from "../../../config/tenants/declared-tenants.ts";
import type { DeclaredTeam } from "../../../config/snapshot.ts";
import { writeDeclared, writeDeclaredTeams } from "../../../resources/declared-rows.ts";
import type { KeyRing } from "../../../resources/key-ring.ts";
import type { AuditChange } from "../../access/audit.ts";
import type { AdminRequest } from "../../access/route.ts";
import type { BudgetParts } from "../budget-view.ts";
import { managedByFile } from "../find-key.ts";

/** The stored records that these routes change. */
export type Records = Pick<Store, "keys" | "teams"> & { readonly tenants: TenantStore };

/** The parts of the routes. */
export interface TenantRouteParts extends BudgetParts {
  readonly records: Records;
  readonly keyRing: Pick<KeyRing, "forget">;
  /** What the live configuration declares. */
  readonly declaredTenants: () => DeclaredTenants;
  readonly declaredTeams: () => readonly DeclaredTeam[];
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Makes a change, with its line in the audit. A reference to something that a file declares, and
 * whose row is not in the store yet, is written first.
 */
export async function changeRecords<Result>(
  parts: TenantRouteParts,
  request: AdminRequest,
  change: AuditChange,
  write: (records: Records) => Promise<Result>,
): Promise<Result> {
  const { records, keyRing, log, clock } = parts;
  const audited = (): Promise<Result> =>
    request.audit.change(request, change, ({ keys, teams, tenants = records.tenants }) =>
      write({ keys, teams, tenants }),
    );
  let result = await audited();
  if (result === "missing") {
    await writeDeclaredTeams(parts.declaredTeams(), records.teams, clock.now(), log);
    await writeDeclared(parts.declaredTenants(), records, clock.now(), log);
    result = await audited();
  }
  keyRing.forget();
  return result;
}

/** A record that a file declares; `undefined` without one. */
export function declaredOf<Kind extends TenantKind>(
  { declaredTenants }: Pick<TenantRouteParts, "declaredTenants">,
  kind: Kind,
  isOne: (record: DeclaredTenant<Kind>) => boolean,
): DeclaredTenant<Kind> | undefined {
  return declaredTenants()[kind].find(isOne);
}

/** Refuses to change what a file declares. */
export function refuseDeclared(
  declared: Pick<DeclaredTenant<TenantKind>, "at"> | undefined,
  what: string,
  field: string,
): void {
  if (declared !== undefined) throw managedByFile(what, declared.at, field);
}

/** The answer for something that does not exist, or that the caller may not see. */
export function notThere(noun: string, list: string, param: string): GatewayError {
  return new GatewayError(
    "not_found",
    `This ${noun} does not exist. GET ${list} lists what exists.`,
    { param },
  );
}
