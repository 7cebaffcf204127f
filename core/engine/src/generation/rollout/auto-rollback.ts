/** Automatic rollback: every process of the gateway leaves a generation whose requests fail. */

import type { Log } from "@sluice/contract";
import type { ConfigEdits } from "./edits.ts";
import type { GenerationManager } from "../manager.ts";
import type { RolloutFault, RolloutMonitor } from "./rollout-monitor.ts";

/** The message of a process that rolled back to the others. */
export interface RollbackNotice {
  /** The digest of the failed contents: processes may number the same contents differently. */
  readonly digest: string;
  /** The generation that was gone back to. */
  readonly previous: number;
  /** For a person. */
  readonly reason: string;
}

/** The parts of an automatic rollback. */
export interface AutoRollbackParts {
  /** Absent: nothing is found here, and nothing is left. */
  readonly monitor: RolloutMonitor | undefined;
  readonly manager: GenerationManager;
  readonly edits: ConfigEdits;
  readonly log: Log;
  /** Tells the other processes. */
  readonly tell?: ((notice: RollbackNotice) => void) | undefined;
}

/** Acts upon what the watch finds. Returns the action for a rollback of another process: the same, where the same contents run. */
export function startAutoRollback({ monitor, manager, edits, log, tell }: AutoRollbackParts): (notice: RollbackNotice) => void {
  const goBack = async (fault: RolloutFault): Promise<boolean> => {
    try {
      const result = await edits.goBack(fault);
      return result?.outcome === "applied";
    } catch (error) {
      log.error("going back by itself failed", { generation: fault.generation, reason: fault.reason, error });
      return false;
    }
  };
  if (monitor !== undefined) {
    monitor.onFault = async (fault) => {
      const digest = manager.live?.snapshot.digest;
      const isBack = await goBack(fault);
      if (isBack && digest !== undefined) tell?.({ digest, previous: fault.previous, reason: fault.reason });
    };
  }
  return ({ digest, previous, reason }) => {
    const { live } = manager;
    if (live?.snapshot.digest === digest) void goBack({ generation: live.number, previous, reason });
  };
}
