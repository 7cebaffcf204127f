/** Opening files that may still be written: read twice, and taken only when both readings agree. */

import { setTimeout as pause } from "node:timers/promises";

import { type OpenedConfig, openInPieces, type OpenOptions } from "./open.ts";
import { inSlices } from "./slices.ts";
import { diskSource, recordSource } from "./source.ts";

/**
 * Between two readings. A writer that is slower than this is caught by the end mark, the mandatory
 * sections and the guard.
 */
const PAUSE_MS = 100;
/** Readings until the files count as never still. */
const MAX_READINGS = 30;

/**
 * Reads a configuration once its files have stood still: everything that was read has the same
 * contents a moment later. After three seconds of change the last reading is returned with a
 * finding, so that it is refused. Reads in slices with whatever else the process does.
 */
export async function openSettled(
  options: OpenOptions,
  signal?: AbortSignal,
): Promise<OpenedConfig> {
  for (let reading = 1; ; reading += 1) {
    const source = recordSource(options.source ?? diskSource);
    const opened = await inSlices(openInPieces({ ...options, source }));
    await pause(PAUSE_MS, undefined, signal === undefined ? {} : { signal });
    if (source.isStill()) return opened;
    if (reading >= MAX_READINGS)
      return { ...opened, findings: [...opened.findings, restless(opened)] };
  }
}

function restless({ gateway, path }: OpenedConfig) {
  const at = gateway?.document.keyAt([]) ?? { file: path, line: 1, column: 1 };
  return {
    at,
    message: "the files of the configuration kept changing while they were read",
    fix: "finish the edit; the gateway reads them again when they stop changing",
  };
}
