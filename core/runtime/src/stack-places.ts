/**
 * The places in files where an error was thrown. A log may hold them even if the error's message
 * quotes a request.
 */

import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** A line of a stack: `at check (file:///srv/mine.ts:8:11)` or `at /srv/mine.ts:8:11`. */
const FRAME = /^\s+at (?:.*\()?((?:file:\/\/)?\/[^()]*):(\d+):(\d+)\)?$/;
const MAX_LINES = 50;
const MAX_PLACES = 4;
/**
 * The folders of the gateway's own packages, which a plugin's error passes through. Plugins may lie
 * beside them.
 */
const PACKAGES = dirname(dirname(import.meta.dirname));
const OWN: readonly string[] = ["admin-api", "cli", "contract", "engine", "kit", "runtime"].map(
  (name) => join(PACKAGES, name) + sep,
);

/**
 * The innermost places of an error's stack, `path:line:column` each, at most 4, without the
 * gateway's own functions and their callers. Holds only paths of existing files and numbers, no
 * part of the message. Empty for a stack without places.
 */
export function stackPlaces(error: unknown): readonly string[] {
  if (!(error instanceof Error) || typeof error.stack !== "string") return [];
  const places: string[] = [];
  for (const line of framesOf(error.stack, error.message)) {
    const [, file, at, column] = FRAME.exec(line) ?? [];
    if (file === undefined) continue;
    const path = pathOf(file);
    if (path === undefined) continue;
    if (OWN.some((folder) => path.startsWith(folder))) {
      if (places.length > 0) break;
      continue;
    }
    const place = `${path}:${at}:${column}`;
    if (!places.includes(place)) places.push(place);
    if (places.length === MAX_PLACES) break;
  }
  return places;
}

/** The lines after the message, which may hold lines of any form. */
function framesOf(stack: string, message: string): readonly string[] {
  const start = message === "" ? -1 : stack.indexOf(message);
  return stack.slice(start < 0 ? 0 : start + message.length).split("\n", MAX_LINES);
}

function pathOf(file: string): string | undefined {
  try {
    const path = file.startsWith("file:") ? fileURLToPath(file) : file;
    // The name of a missing file may come from a message.
    return existsSync(path) && dirname(path) !== path ? path : undefined;
  } catch {
    return undefined;
  }
}
