/** The last good configuration of the store, kept for a time without the store. */

import { readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import type { StoredConfiguration } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";

const OWNER_ONLY = 0o600;

/** Reads the copy; `undefined` without a whole one. */
export function readCopy(dataDirectory: string): StoredConfiguration | undefined {
  try {
    const read = parseJson(
      readFileSync(pathOf(dataDirectory), "utf8"),
    ) as Partial<StoredConfiguration>;
    const { id, contents, files } = read;
    const isWhole =
      Number.isSafeInteger(id) &&
      typeof contents === "string" &&
      isObject(files) &&
      Object.values(files).every((text) => typeof text === "string");
    return isWhole ? (read as StoredConfiguration) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the copy over an older one. It appears whole or not at all, also when the power fails. */
export async function writeCopy(
  dataDirectory: string,
  { id, contents, files }: StoredConfiguration,
): Promise<void> {
  if ((readCopy(dataDirectory)?.id ?? 0) >= id) return;
  const draft = `${pathOf(dataDirectory)}.${process.pid}`;
  const handle = await open(draft, "w", OWNER_ONLY);
  try {
    await handle.writeFile(JSON.stringify({ id, contents, files }));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, pathOf(dataDirectory));
}

function pathOf(dataDirectory: string): string {
  return join(dataDirectory, "config.json");
}
