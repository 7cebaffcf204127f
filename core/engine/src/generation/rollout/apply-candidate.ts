/** Hands a candidate to the manager, and its result to the history. */

import type { ResolvedConfig } from "../../config/load.ts";
import { contentsDigest } from "../../config/build.ts";
import { checkCandidate } from "../../lint/check-candidate.ts";
import { withoutUnloaded } from "../cold.ts";
import type { EditHistory } from "../history/edit-history.ts";
import { AUTO_ROLLBACK } from "../history/entries.ts";
import type { ApplyOptions, ApplyResult } from "./apply.ts";
import { type Candidate, contentsOf } from "./candidate.ts";
import type { EditParts } from "./edit-parts.ts";

/** What applying needs. */
export interface ApplyParts {
  readonly parts: EditParts;
  readonly history: EditHistory;
  /** Applies what was saved. */
  readonly catchUp: () => Promise<ApplyResult>;
}

/** Applies a candidate that was read, or refuses it with its findings. */
export async function applyCandidate(
  candidate: Candidate,
  resolved: ResolvedConfig,
  { parts, history: edits, catchUp }: ApplyParts,
): Promise<ApplyResult> {
  const { manager, definitions, history } = parts;
  const { opened, isRefresh } = candidate;
  if (resolved.snapshot === undefined) {
    const findings = withoutUnloaded(
      checkCandidate(resolved, definitions),
      manager.live?.snapshot,
      opened.plugins,
    );
    return edits.add(manager.refuse(findings, contentsDigest(opened)), candidate);
  }
  const result = edits.add(
    await manager.apply(resolved.snapshot, applyOptions(candidate)),
    candidate,
  );
  await history.flush();
  // Another generation runs by now. It is refreshed instead, because a secret may have changed.
  if (isRefresh === true && result.outcome === "superseded") void catchUp().catch(() => undefined);
  return result;
}

/** How a candidate is applied. */
function applyOptions(candidate: Candidate): ApplyOptions {
  const { origin, force, canary, author, isRefresh, fault, number } = candidate;
  const hasServed = candidate.hasServed ?? (origin === "rollback" || number !== undefined);
  const back = fault && { replaces: fault.generation, reason: fault.reason };
  const by = fault === undefined ? author : AUTO_ROLLBACK.name;
  const what = {
    source: candidate,
    contents: contentsOf(candidate),
    ...(isRefresh === true && { isRefresh }),
  };
  return { force, canary, hasServed, author: by, number, ...back, ...what };
}
