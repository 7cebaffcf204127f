/** Reviews of contents, without applying them. */

import { contentsDigest } from "../../config/build.ts";
import type { Finding } from "../../config/finding.ts";
import { type OpenedConfig, resolveSnapshot } from "../../config/load.ts";
import type { Snapshot } from "../../config/snapshot.ts";
import { checkCandidate } from "../../lint/check-candidate.ts";
import type { Definitions } from "../../registry/definitions.ts";
import { withoutUnloaded } from "../cold.ts";
import type { GenerationManager } from "../manager.ts";

/** The review of a candidate, which is not applied. */
export interface Review {
  readonly digest: string | undefined;
  /** The digest of the file contents. */
  readonly contents: string;
  readonly isUnchanged: boolean;
  readonly findings: readonly Finding[];
  /** The candidate, when it could be read. */
  readonly snapshot: Snapshot | undefined;
}

/** Reviews contents that were read. */
export function reviewOf(
  opened: OpenedConfig,
  definitions: Definitions,
  manager: GenerationManager,
  force?: string,
): Review {
  const contents = contentsDigest(opened);
  const resolved = resolveSnapshot(opened, definitions.all);
  const { snapshot } = resolved;
  if (snapshot === undefined) {
    const known = withoutUnloaded(
      checkCandidate(resolved, definitions),
      manager.live?.snapshot,
      opened.plugins,
    );
    return { digest: undefined, contents, isUnchanged: false, findings: known, snapshot };
  }
  const isUnchanged = manager.live?.snapshot.digest === snapshot.digest;
  return {
    digest: snapshot.digest,
    contents,
    isUnchanged,
    findings: isUnchanged ? [] : manager.review(snapshot, force),
    snapshot,
  };
}
