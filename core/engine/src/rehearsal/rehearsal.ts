/** The rehearsal of a candidate: what the manager runs before a swap. */

import type { Log } from "@sluice/spec";
import type { Rehearse } from "../generation/apply.ts";
import type { Definitions } from "../registry/definitions.ts";
import { rehearse } from "./rehearse.ts";

/** Runs the tests of a candidate's pipelines; what it finds refuses the candidate. */
export function createRehearsal(definitions: Definitions, log: Log): Rehearse {
  return async ({ snapshot, guardrails, number }, signal) => {
    const results = await rehearse({ snapshot, definitions, guardrails }, { signal });
    const ms = Math.round(results.reduce((sum, result) => sum + result.ms, 0));
    log.debug("the pipelines' tests have run", { generation: number, tests: results.length, ms });
    return results.flatMap(({ findings }) => findings);
  };
}
