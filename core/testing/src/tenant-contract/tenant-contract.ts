/** The contract of tenants at rest: what every store that keeps them passes. */

import type { Store } from "@sluice/contract";
import type { Runner } from "../shared-state/index.ts";
import { deletionTests } from "./deletions.ts";
import { idTests } from "./ids.ts";
import { keyPageTests } from "./key-pages.ts";
import { listTests } from "./lists.ts";
import { referenceTests } from "./references.ts";
import { roundTripTests } from "./round-trips.ts";
import { suiteOf } from "./under-test.ts";

/**
 * Runs the suite against a store that was started. `make` is called once, before the tests; every
 * test has ids of its own.
 */
export function tenantStoreContract(
  runner: Runner,
  name: string,
  make: () => Promise<Store>,
): void {
  const suite = suiteOf(runner, make);
  runner.describe(`tenants at rest: ${name}`, () => {
    roundTripTests(suite);
    idTests(suite);
    referenceTests(suite);
    listTests(suite);
    keyPageTests(suite);
    deletionTests(suite);
  });
}
