/** The canary of the fleet in this process, and its evidence. */

import type { RolloutRecord } from "@sluice/contract";
import type { GenerationManager } from "../../generation/manager.ts";
import type { Canary, CanaryEnd } from "../../generation/rollout/canary/canary.ts";
import type { Evidence } from "../../generation/rollout/canary/evidence.ts";
import type { RolloutContents } from "../contents.ts";
import { OwnEvidence } from "./own-evidence.ts";

/** Ends the canary of this process, and keeps what its requests said. */
export class CanaryHere {
  readonly #manager: Pick<GenerationManager, "status" | "endCanary">;
  readonly #contents: RolloutContents;
  readonly #evidence = new OwnEvidence();

  constructor(manager: Pick<GenerationManager, "status" | "endCanary">, contents: RolloutContents) {
    this.#manager = manager;
    this.#contents = contents;
  }

  /** The canary on which the fleet decides; `undefined` without one. */
  get running(): Canary | undefined {
    const { canary } = this.#manager.status;
    return canary?.plan.isOfFleet === true ? canary : undefined;
  }

  /** The evidence until now. */
  get evidence(): Evidence {
    return this.#evidence.read(this.running);
  }

  /** Whether the canary is that of a rollout. */
  isOf(record: RolloutRecord): boolean {
    const { running } = this;
    return running !== undefined && this.#contents.isOf(record, running.generation);
  }

  /** Another rollout begins. A canary that is not its own ends. */
  begin(record: RolloutRecord): void {
    if (this.running !== undefined && (!this.isOf(record) || record.stage === "canary"))
      this.#manager.endCanary("returned", "another rollout took its place");
    this.#evidence.clear();
  }

  /** Ends the canary here. */
  end(end: CanaryEnd, reason: string): void {
    this.#evidence.leave(this.running);
    this.#manager.endCanary(end, reason);
  }

  /** It has ended by an edit of this instance. */
  lost(): void {
    this.#evidence.leave(undefined);
  }
}
