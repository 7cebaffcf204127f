/** The status of the master key from before a rotation. */

import type { JsonObject } from "@sluice/contract";
import type { PreviousKey } from "../../../config/server-settings.ts";
import type { PreviousMasterUse } from "../../../resources/master-keys.ts";

/** The view; `null` without a previous key in the configuration. It holds no part of the key. */
export function previousKeyView(
  previous: PreviousKey | undefined,
  use: PreviousMasterUse,
  nowMs: number,
): JsonObject | null {
  if (previous === undefined) return null;
  return {
    until: new Date(previous.untilMs).toISOString(),
    is_accepted: nowMs < previous.untilMs,
    uses: use.count,
    last_used_at: use.lastMs === undefined ? null : new Date(use.lastMs).toISOString(),
  };
}

/** The views of several workers as one: their uses together, and the last of them. */
export function joinPreviousKeys(
  views: readonly Readonly<Record<string, unknown>>[],
): JsonObject | null {
  const [first] = views;
  if (first === undefined) return null;
  const times = views
    .flatMap(({ last_used_at: at }) => (typeof at === "string" ? [at] : []))
    .sort();
  const uses = views.reduce((sum, view) => sum + Number(view["uses"] ?? 0), 0);
  return { ...(first as JsonObject), uses, last_used_at: times.at(-1) ?? null };
}
