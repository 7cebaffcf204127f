/** Records of tenants, written into the store of a workspace beside its running gateway. */

import { join } from "node:path";
import {
  type BudgetRecord,
  type CustomerRecord,
  EMPTY_AMOUNTS,
  EMPTY_LIMITS,
  EMPTY_TEAM,
  type MembershipRecord,
  type OrganizationRecord,
  type Store,
  type TeamRecord,
  type TenantStore,
  type UserRecord,
} from "@sluice/contract";
import { fakeClock } from "@sluice/testing";
import sqlite from "@sluice/store-sqlite";
import type { Workspace } from "./workspace.ts";

/** An open store, with its tenants. */
export interface OpenTenants extends Pick<Store, "teams" | "keys" | "ledger"> {
  readonly tenants: TenantStore;
  close(): Promise<void>;
}

const NOW_MS = Date.UTC(2026, 0, 1);

/** Opens the store of a workspace whose gateway has started. The caller closes it. */
export async function openTenants({ dataDirectory }: Workspace): Promise<OpenTenants> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const store = sqlite.create(
    { path: join(dataDirectory, "sluice.db"), synchronous: "normal" } as never,
    { log, clock: fakeClock(), dataDirectory },
  );
  await store.start(AbortSignal.timeout(20_000));
  if (store.tenants === undefined) throw new Error("The store has no tenants.");
  const { teams, keys, tenants, ledger } = store;
  return { teams, keys, tenants, ledger, close: () => store.stop() };
}

/** An organization that limits nothing but what is given. */
export const organization = (
  id: string,
  parts: Partial<OrganizationRecord> = {},
): OrganizationRecord => ({
  ...EMPTY_LIMITS,
  id,
  selfService: null,
  createdAtMs: NOW_MS,
  ...parts,
});

/** A team that limits nothing but what is given. */
export const team = (id: string, parts: Partial<TeamRecord> = {}): TeamRecord => ({
  ...EMPTY_TEAM,
  id,
  createdAtMs: NOW_MS,
  ...parts,
});

/** A person that is limited by nothing but what is given. */
export const user = (id: string, parts: Partial<UserRecord> = {}): UserRecord => ({
  ...EMPTY_LIMITS,
  id,
  kind: "person",
  email: null,
  organizations: [],
  roles: [],
  createdAtMs: NOW_MS,
  ...parts,
});

/** A member that is limited by nothing but what is given. */
export const membership = (
  userId: string,
  teamId: string,
  parts: Partial<MembershipRecord> = {},
): MembershipRecord => ({
  ...EMPTY_LIMITS,
  userId,
  teamId,
  role: "member",
  createdAtMs: NOW_MS,
  ...parts,
});

/** A customer of keys without an organization, unless another one is given. */
export const customer = (id: string, parts: Partial<CustomerRecord> = {}): CustomerRecord => ({
  ...EMPTY_LIMITS,
  id,
  organizationId: "",
  createdAtMs: NOW_MS,
  ...parts,
});

/** A budget of every organization. */
export const budget = (id: string, parts: Partial<BudgetRecord> = {}): BudgetRecord => ({
  ...EMPTY_AMOUNTS,
  id,
  organizationId: null,
  budgetAnchor: "calendar",
  perModel: {},
  createdAtMs: NOW_MS,
  ...parts,
});
