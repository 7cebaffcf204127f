/** Going back by itself: a generation whose requests fail is left, by every process of the gateway. */

import type { Log } from "@sluice/spec";
import type { ConfigEdits } from "./edits.ts";
import type { GenerationManager } from "./manager.ts";
import type { SwapFault, SwapWatch } from "./swap-watch.ts";

/** What a process that went back tells the others. */
export interface WentBack {
  /** Of the contents that failed: processes may number the same contents differently. */
  readonly digest: string;
  /** The generation that was gone back to. */
  readonly previous: number;
  /** For a person. */
  readonly reason: string;
}

/** What going back needs. */
export interface GoingBackParts {
  /** Absent: nothing is found here, and nothing is left. */
  readonly swaps: SwapWatch | undefined;
  readonly manager: GenerationManager;
  readonly edits: ConfigEdits;
  readonly log: Log;
  /** Tells the other processes. */
  readonly tell?: ((wentBack: WentBack) => void) | undefined;
}

/** Acts upon what the watch finds. Returns what to do when another process went back: the same, where the same contents run. */
export function goBackOnFaults({ swaps, manager, edits, log, tell }: GoingBackParts): (wentBack: WentBack) => void {
  const goBack = async (fault: SwapFault): Promise<boolean> => {
    try {
      const result = await edits.goBack(fault);
      return result?.outcome === "applied";
    } catch (error) {
      log.error("going back by itself failed", { generation: fault.generation, reason: fault.reason, error });
      return false;
    }
  };
  if (swaps !== undefined) {
    swaps.onFault = async (fault) => {
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
