/** Writes an organization, a team, a user, a membership and a customer, each with limits. */

import { join } from "node:path";
import sqlite from "@sluice/store-sqlite";
import { EMPTY_LIMITS, EMPTY_TEAM } from "@sluice/contract";

const AMOUNTS = {
  maxBudgetNanoUsd: 8_000_000_000_000_000,
  budgetDuration: "1mo",
  rpm: 1_000_000_000,
  tpm: 1_000_000_000,
  maxParallelRequests: 1_000_000,
};

/** Inserts the records into the store in the data folder of a running gateway. */
export async function insertTenants(dataDirectory: string): Promise<void> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const store = sqlite.create(
    { path: join(dataDirectory, "sluice.db"), synchronous: "normal" } as never,
    { log, clock, dataDirectory },
  );
  await store.start(AbortSignal.timeout(20_000));
  const block = { ...EMPTY_LIMITS, ...AMOUNTS, createdAtMs: Date.now() };
  await store.tenants?.organization.insert({ ...block, id: "organization", selfService: null });
  await store.teams.insert({ ...EMPTY_TEAM, ...block, id: "team", organizationId: "organization" });
  const person = { kind: "person", email: null, organizations: [], roles: [] } as const;
  await store.tenants?.user.insert({ ...block, ...person, id: "user" });
  const member = { userId: "user", teamId: "team", role: "member" } as const;
  await store.tenants?.membership.insert({ ...block, ...member });
  const customer = { id: "customer", organizationId: "organization" };
  await store.tenants?.customer.insert({ ...block, ...customer });
  await store.stop();
}
