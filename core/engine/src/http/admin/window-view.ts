/** The current use of the rates of a key or a team, read where requests are counted. */

import {
  type Amounts,
  type JsonObject,
  WINDOW_BOOK_KEY,
  type WindowBook,
  type WindowOwner,
  type WindowUse,
} from "@sluice/contract";
import type { SharedPool } from "../../resources/shared-pool.ts";

/** The parts of a view. */
export interface WindowParts {
  readonly shared: Pick<SharedPool, "find">;
  /** Whether shared state cannot be reached; `undefined` where it is in memory. */
  readonly isStateAway: () => boolean | undefined;
}

/**
 * Requests and tokens of the last minute. Null without a limit, and where they cannot be read: the
 * page is shown without them.
 */
export async function windowView(
  { rpm, tpm }: Partial<Pick<Amounts, "rpm" | "tpm">>,
  owner: WindowOwner,
  parts: WindowParts,
): Promise<JsonObject> {
  const [hasRpm, hasTpm] = [typeof rpm === "number", typeof tpm === "number"];
  const use = hasRpm || hasTpm ? await usedBy(owner, parts) : undefined;
  return {
    rpm_used: hasRpm && use !== undefined ? whole(use.requests) : null,
    tpm_used: hasTpm && use !== undefined ? whole(use.tokens) : null,
  };
}

async function usedBy(
  owner: WindowOwner,
  { shared, isStateAway }: WindowParts,
): Promise<WindowUse | undefined> {
  if (isStateAway() === true) return undefined;
  const book = shared.find(WINDOW_BOOK_KEY) as WindowBook | undefined;
  return book?.used(owner).catch(() => undefined);
}

/** A sliding window has parts of what is leaving it. */
function whole(used: number): number {
  return Math.max(0, Math.ceil(used));
}
