/** Candidates: contents on their way to a generation, and what is known of where they came from. */

import type { OpenedConfig } from "../../config/load.ts";
import type { ApplyResult } from "./apply.ts";
import type { CanaryPlan } from "./canary.ts";
import type { FileTexts, GenerationOrigin } from "../history/history.ts";
import type { RolloutFault } from "./rollout-monitor.ts";

/** Contents that run instead of the files. */
export interface PinnedConfig {
  readonly texts: FileTexts;
  /** Absent: the contents of files that were edited since, and no request asked for the edit to apply. */
  readonly contentsOf?: number;
  /** The files that these contents replaced. The contents stay while the files are unchanged. */
  readonly onDisk: string;
}

/** Contents to apply, and their author. */
export interface Candidate {
  readonly opened: OpenedConfig;
  readonly origin: GenerationOrigin;
  readonly held?: PinnedConfig | undefined;
  readonly force?: string | undefined;
  readonly canary?: CanaryPlan | undefined;
  readonly author?: string | undefined;
  readonly isRefresh?: boolean;
  /** The number of the same contents in another worker, which this one follows. */
  readonly number?: number | undefined;
  /** The reason of an automatic rollback, and the failing generation. */
  readonly fault?: RolloutFault | undefined;
}

/** A reading of the files that has not ended. */
export interface Reading {
  /** It was requested: it replaces what was rolled back. */
  isAsked: boolean;
  readonly force: string | undefined;
  readonly canary: CanaryPlan | undefined;
  /** The author. */
  author: string | undefined;
  readonly result: Promise<ApplyResult>;
}
