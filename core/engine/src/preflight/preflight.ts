/** The preflight of a candidate: the manager runs it before a swap. */

import type { Log } from "@sluice/contract";
import type { Preflight } from "../generation/rollout/apply.ts";
import type { Definitions } from "../registry/definitions.ts";
import { runTests } from "./run-tests.ts";

/**
 * Creates the function that runs the tests of a candidate's pipelines. A finding rejects the
 * candidate.
 */
export function createPreflight(definitions: Definitions, log: Log): Preflight {
  return async ({ snapshot, guardrails, routes, number }, signal) => {
    const results = await runTests({ snapshot, definitions, guardrails, routes }, { signal });
    const ms = Math.round(results.reduce((sum, result) => sum + result.ms, 0));
    log.debug("the pipelines' tests have run", { generation: number, tests: results.length, ms });
    return results.flatMap(({ findings }) => findings);
  };
}
