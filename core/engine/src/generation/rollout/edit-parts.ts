/** The parts of edits, and their status. */

import type { Clock, Log } from "@sluice/contract";
import type { OpenOptions } from "../../config/load.ts";
import type { Definitions } from "../../registry/definitions.ts";
import type { ManagerStatus } from "./apply.ts";
import type { DriftedFile } from "../history/file-texts.ts";
import type { FileTexts, GenerationHistory, HistoryEntry } from "../history/history.ts";
import type { GenerationManager } from "../manager.ts";

/** The parts of the process that edits need. */
export interface EditParts {
  readonly place: OpenOptions;
  readonly definitions: Definitions;
  readonly manager: GenerationManager;
  readonly history: GenerationHistory;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Contents that a start began with, and what the files were on disk where the contents stay as long
 * as these do.
 */
export interface StartedWith {
  readonly texts: FileTexts;
  readonly contentsOf: number;
  readonly onDisk: string | undefined;
}

/** The status of `GET /config/status`. */
export interface EditStatus extends ManagerStatus {
  /** The origin of the live generation. */
  readonly entry: HistoryEntry | undefined;
  /**
   * Files that differ from what runs: after a refused edit, a rollback, a start from the last good
   * one.
   */
  readonly drift: readonly DriftedFile[];
}
