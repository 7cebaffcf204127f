/** Effects on the spend rows of the store. */

import type { Snapshot } from "../../../config/snapshot.ts";
import type { Effect } from "./effect.ts";

const DAY_MS = 86_400_000;

/** How long rows are kept. A shorter time deletes rows, which no later edit restores. */
export function ledgerEffects({ ledger: live }: Snapshot, { ledger }: Snapshot): Effect[] {
  if (live.keepMs === ledger.keepMs) return [];
  const isShorter = (ledger.keepMs ?? Infinity) < (live.keepMs ?? Infinity);
  const message = `${shown(live.keepMs)} -> ${shown(ledger.keepMs)}${isShorter ? ": older rows are deleted" : ""}`;
  return [
    {
      risk: isShorter ? "caution" : "safe",
      about: "ledger.keep",
      message,
      at: ledger.keepMs === undefined ? undefined : ledger.at,
    },
  ];
}

function shown(keepMs: number | undefined): string {
  return keepMs === undefined ? "for ever" : `${keepMs / DAY_MS}d`;
}
