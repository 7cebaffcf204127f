/** What the suites of tenants run against. */

import type { Store, TenantStore } from "@sluice/contract";
import { freshId, type Runner } from "../shared-state/index.ts";

/** A store that keeps tenants. */
export type StoreUnderTest = Store & { readonly tenants: TenantStore };

/** One suite: the runner, the store, and a prefix of ids that no other test has. */
export interface Suite extends Runner {
  readonly store: () => Promise<StoreUnderTest>;
  readonly fresh: () => string;
}

/** Makes the parts of a suite; `make` is called once. */
export function suiteOf(runner: Runner, make: () => Promise<Store>): Suite {
  let made: Promise<StoreUnderTest> | undefined;
  return {
    ...runner,
    store: () => (made ??= make().then(withTenants)),
    fresh: () => `${freshId()}-`,
  };
}

function withTenants(store: Store): StoreUnderTest {
  if (store.tenants === undefined) throw new Error("the store keeps no tenants");
  return store as StoreUnderTest;
}
