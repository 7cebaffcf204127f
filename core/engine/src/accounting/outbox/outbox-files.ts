/** The files of all outboxes of a data folder, for backups and checks before an upgrade. */

import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "@sluice/contract";
import { readHeader } from "./segment.ts";

const SEGMENT = /^outbox(?:-\d+)?\.\d+\.log$/;

/** The names of the segments in a data folder. */
export function outboxFiles(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => SEGMENT.test(name))
    .toSorted();
}

/** Why this version does not read an outbox of the folder; `undefined` when it reads all. */
export function outboxFault(directory: string): string | undefined {
  for (const name of outboxFiles(directory)) {
    const path = join(directory, name);
    const file = openSync(path, "r");
    try {
      const first = Buffer.alloc(1);
      // A segment of a process that was killed before its first line is empty.
      if (readSync(file, first, 0, 1, 0) > 0) readHeader(file, MAX_HEADER_BYTES);
    } catch (error) {
      return `${path}: ${errorMessage(error)}`;
    } finally {
      closeSync(file);
    }
  }
  return undefined;
}

const MAX_HEADER_BYTES = 4_096;
