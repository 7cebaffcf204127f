/** Edits through the routes of one instance that are for all, where there is one configuration. */

import { GatewayError } from "@sluice/contract";
import type { ApplyResult } from "../generation/rollout/apply.ts";
import type { CanaryEnd, CanaryPlan } from "../generation/rollout/canary/canary.ts";
import type { ConfigEdits } from "../generation/rollout/edits.ts";
import type { Fleet } from "./fleet.ts";

/** Edits that may be for all instances. `isRepeated`: another worker has been asked already. */
export interface WholeEdits {
  /** Reads again what this machine has. Throws `invalid_field` for a canary that needs a push. */
  reload(
    force: string | undefined,
    canary: CanaryPlan | undefined,
    author: string | undefined,
  ): Promise<ApplyResult>;
  /** Throws `not_found` for a generation that is not kept. */
  rollback(
    generation: number | undefined,
    author: string | undefined,
    isRepeated: boolean,
  ): Promise<ApplyResult>;
  /** Throws `not_found` when no canary runs. */
  endCanary(end: CanaryEnd, author: string | undefined, isRepeated: boolean): Promise<ApplyResult>;
}

/** Edits of the fleet where it has the configuration, or the canary; else those of the gateway. */
export function wholeEdits(edits: ConfigEdits, fleet: Fleet): WholeEdits {
  const { config, rollouts } = fleet;
  /** What the first worker has begun applies here. */
  const follow = async (): Promise<ApplyResult | undefined> => {
    await fleet.look();
    return edits.status.lastAttempt;
  };
  return {
    async reload(force, canary, author) {
      if (config === undefined) return edits.reload(force, canary, author);
      if (canary !== undefined || force !== undefined) throw isInStore();
      await fleet.look();
      return edits.reload(undefined, undefined, author);
    },
    async rollback(generation, author, isRepeated) {
      if (config === undefined) return edits.rollback(generation, author);
      const followed = isRepeated ? await follow() : undefined;
      return followed ?? ((await config.rollback(generation, author)).result as ApplyResult);
    },
    async endCanary(end, author, isRepeated) {
      const isOfFleet = edits.status.canary?.plan.isOfFleet === true;
      if (isRepeated && (isOfFleet || config !== undefined)) {
        const followed = await follow();
        if (followed !== undefined) return followed;
      }
      return (await rollouts?.endCanary(end, author)) ?? edits.endCanary(end, author);
    },
  };
}

function isInStore(): GatewayError {
  const message =
    "The configuration of this gateway is in the store. sluice push applies another one, with --canary to a share of the keys.";
  return new GatewayError("invalid_field", message, { param: "canary" });
}
