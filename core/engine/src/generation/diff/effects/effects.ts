/**
 * The effects of a change from one snapshot to another. Pure: it calls, creates and changes
 * nothing.
 */

import type { StepDefinition } from "@sluice/contract";
import type { Snapshot } from "../../../config/snapshot.ts";
import { coldChanges } from "../../cold.ts";
import { type Effect, worstFirst } from "./effect.ts";
import { keyEffects } from "./keys.ts";
import { ledgerEffects } from "./ledger.ts";
import { modelEffects } from "./models.ts";
import { guardrailEffects, providerEffects } from "./plugins.ts";
import { priceEffects } from "./prices.ts";
import { routeEffects } from "./routes.ts";
import { teamEffects } from "./teams.ts";
import { tenantEffects } from "./tenants.ts";

/** The effects of an edit, the worst first. Equal snapshots have none. */
export function effectsOf(
  live: Snapshot,
  candidate: Snapshot,
  definitions: ReadonlyMap<string, StepDefinition<never>>,
): readonly Effect[] {
  if (live.digest === candidate.digest) return [];
  return worstFirst([
    ...coldChanges(live, candidate).map(({ at, message }): Effect => {
      const what = message.replace(/^The (setting|section) (\S+) .*$/, "$2");
      return {
        risk: "caution",
        about: what,
        message: "changes, which needs a restart: as an edit it is refused",
        at,
      };
    }),
    ...ledgerEffects(live, candidate),
    ...routeEffects(live, candidate, definitions),
    ...guardrailEffects(live, candidate),
    ...keyEffects(live, candidate),
    ...teamEffects(live, candidate),
    ...tenantEffects(live, candidate),
    ...modelEffects(live, candidate),
    ...providerEffects(live, candidate),
    ...priceEffects(live, candidate),
  ]);
}
