/** An edit of the files over the admin listener, and what became of it. */

import type { ApplyResult } from "../../../../generation/rollout/apply.ts";
import type { CanaryPlan } from "../../../../generation/rollout/canary/canary.ts";

/** An edit. */
export interface FileEdit {
  /** Texts by the names of files; null removes one. */
  readonly files: Readonly<Record<string, string | null>>;
  /** The digest of the files that the edit was made from. */
  readonly base: string;
  readonly force: string | undefined;
  readonly author: string | undefined;
  readonly canary: CanaryPlan | undefined;
}

/** What became of the files. */
export type FilesOutcome =
  /** They hold the edit. */
  | "written"
  /** They held it before. */
  | "unchanged"
  /** They are what they were: the edit was refused before or after it was written. */
  | "put_back"
  /**
   * The edit was refused after it was written, and the files could not be put back; or they are in
   * the store, and this instance alone refused them.
   */
  | "left";

/** The result of an edit. */
export interface EditOutcome {
  readonly result: ApplyResult;
  readonly files: FilesOutcome;
  /** The digest of the files as they are now. */
  readonly digest: string;
}
