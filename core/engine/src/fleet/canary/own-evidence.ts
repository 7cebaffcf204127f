/** The evidence of this process about a canary of the fleet, also over breaks. */

import type { Canary } from "../../generation/rollout/canary/canary.ts";
import {
  type Evidence,
  evidenceIn,
  joinEvidence,
  NO_EVIDENCE,
} from "../../generation/rollout/canary/evidence.ts";

/** Keeps the evidence of one rollout. */
export class OwnEvidence {
  /** Of a canary that this process left, and may begin again. */
  #earlier: Evidence = NO_EVIDENCE;
  #last: Evidence = NO_EVIDENCE;

  /** Another rollout begins. */
  clear(): void {
    this.#earlier = NO_EVIDENCE;
    this.#last = NO_EVIDENCE;
  }

  /** The evidence until now. */
  read(canary: Canary | undefined): Evidence {
    this.#last =
      canary === undefined
        ? this.#earlier
        : joinEvidence([this.#earlier, evidenceIn(canary.tally, canary.plan)]);
    return this.#last;
  }

  /** The canary ends here. Without one it has ended already: what was read last stays. */
  leave(canary: Canary | undefined): void {
    this.#earlier = canary === undefined ? this.#last : this.read(canary);
  }
}
