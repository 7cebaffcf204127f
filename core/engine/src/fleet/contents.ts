/** Where the contents of a rollout come from in a process. */

import type { RolloutRecord, RolloutSource } from "@sluice/contract";
import type { Generation } from "../generation/generation.ts";
import type { ApplyResult } from "../generation/rollout/apply.ts";
import type { CanaryPlan } from "../generation/rollout/canary/canary.ts";
import type { ConfigEdits } from "../generation/rollout/edits.ts";

/** How the contents of a rollout are applied. */
export interface RolloutContents {
  readonly source: RolloutSource;
  /**
   * Applies the contents of a rollout, as a canary where `canary` is given. `undefined`: this
   * process does not have them now.
   */
  take(record: RolloutRecord, canary: CanaryPlan | undefined): Promise<ApplyResult | undefined>;
  /** Whether a generation is that of a rollout. */
  isOf(record: RolloutRecord, generation: Generation): boolean;
  /** Whether an instance that does not run the contents is still to apply them. */
  isOpen(record: RolloutRecord, nowMs: number): boolean;
  /** Brings this process to what serves all keys while a canary runs, and after it was returned. */
  base(record: RolloutRecord, live: Generation | undefined): Promise<void>;
  /** A canary serves all keys from now on. */
  promoted(record: RolloutRecord): Promise<void>;
  /** What was refused may apply now. */
  retry(): void;
}

/** The time in which files that arrive late apply after the end of a canary. */
const LATE_MS = 120_000;

/** The files of this instance: they may arrive later than those of another one. */
export function ownFiles(edits: Pick<ConfigEdits, "reloadTo">): RolloutContents {
  return {
    source: "files",
    take: ({ contents, isForced, author }, canary) =>
      edits.reloadTo(contents, {
        canary,
        force: isForced ? contents : undefined,
        author: author ?? undefined,
      }),
    isOf: ({ contents }, { snapshot }) => snapshot.contents === contents,
    // An old rollout is not applied by an instance that starts with newer files.
    isOpen: ({ endsAtMs, stage }, nowMs) => nowMs < endsAtMs + (stage === "promoted" ? LATE_MS : 0),
    // Each instance has the files that it has.
    base: async () => undefined,
    promoted: async () => undefined,
    retry: () => undefined,
  };
}
