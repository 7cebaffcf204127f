/** Candidates: contents on their way to a generation, and what is known of where they came from. */

import type { OpenedConfig } from "../../config/load.ts";
import type { CanaryPlan } from "./canary/canary.ts";
import { digestAsRead, textsOf } from "../history/file-texts.ts";
import type { FileTexts, GenerationOrigin } from "../history/history.ts";
import type { RolloutFault } from "./rollout-monitor.ts";
import type { RolloutContents } from "./state/model.ts";

/** Contents that run instead of the files. */
export interface PinnedConfig {
  readonly texts: FileTexts;
  /**
   * Absent: the contents of files that were edited since, and no request asked for the edit to
   * apply.
   */
  readonly contentsOf?: number;
  /** The files that these contents replaced. The contents stay while the files are unchanged. */
  readonly onDisk: string;
}

/** Where the contents of an edit come from. */
export interface EditSource {
  readonly opened: OpenedConfig;
  readonly origin: GenerationOrigin;
  readonly held?: PinnedConfig | undefined;
  readonly force?: string | undefined;
  readonly author?: string | undefined;
  /** Why the gateway rolls back by itself, and from which generation. */
  readonly fault?: RolloutFault | undefined;
}

/** Contents that are to be applied, and how. */
export interface Candidate extends EditSource {
  readonly canary?: CanaryPlan | undefined;
  readonly isRefresh?: boolean;
  /** The number of the same contents in another process, which this one follows. */
  readonly number?: number | undefined;
  /** Absent: contents of a rollback, and those of another process, have served. */
  readonly hasServed?: boolean;
}

/** Contents of the store that are to be applied. */
export interface StoredEdit {
  readonly texts: FileTexts;
  /** The number of the generation, the same at every instance. */
  readonly number: number;
  readonly origin: GenerationOrigin;
  /** Whether they have served before: their tests do not run. */
  readonly isTested: boolean;
  readonly canary: CanaryPlan | undefined;
  readonly force: string | undefined;
  readonly author: string | undefined;
}

/** What is kept of the contents that run, and of those of a canary. */
export interface EditContents extends RolloutContents {
  readonly texts: FileTexts;
  readonly held: PinnedConfig | undefined;
  /** What the files were when they were read. */
  readonly onDisk: string;
}

/** The contents of a candidate. */
export function contentsOf({ opened, held }: EditSource): EditContents {
  return {
    isPinned: held !== undefined,
    held,
    texts: textsOf(opened),
    onDisk: digestAsRead(opened),
  };
}

/** The contents that run instead of the files; `undefined` where the files apply. */
export function pinnedBy({ running, pinnedBy: by }: RunningContents): PinnedConfig | undefined {
  if (running === undefined || by === undefined) return undefined;
  // The files are those of a canary.
  return by === running ? running.held : { texts: running.texts, onDisk: by.onDisk };
}

/** The contents that serve all keys, and those that hold the files back. */
export interface RunningContents {
  readonly running: EditContents | undefined;
  readonly pinnedBy: EditContents | undefined;
}
