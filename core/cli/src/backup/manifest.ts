/** The file `backup.json`: what a backup holds, with check values. It is written last. */

import { createHash } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorMessage, type JsonValue } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";
import { CommandError, EXIT } from "../exit.ts";

/** The number changes with the form. */
const FORM = 1;
const NAME = "backup.json";
/** Files of a backup: no path leads out of its folder. */
const PATH =
  /^(?:pepper|master\.key|store\.id|store\.db|outbox(?:-\d+)?\.\d+\.log|generations\/\d+\.json)$/;

/** A file of a backup. */
export interface BackedUpFile {
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** What a backup holds. */
export interface Manifest {
  readonly backup: number;
  /** The version that made it. */
  readonly version: string;
  readonly created_at: string;
  /** The name of the store plugin; null without the store. */
  readonly store: string | null;
  /** The check value of the pepper; null without one. */
  readonly pepper: string | null;
  readonly files: readonly BackedUpFile[];
}

/** The path of the manifest. */
export function manifestPath(folder: string): string {
  return join(folder, NAME);
}

/** A manifest of this form. */
export function manifestOf(parts: Omit<Manifest, "backup">): Manifest {
  return { backup: FORM, ...parts };
}

/** The check value of a file. */
export async function describeFile(folder: string, path: string): Promise<BackedUpFile> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(join(folder, path))) hash.update(chunk as Buffer);
  return { path, bytes: statSync(join(folder, path)).size, sha256: hash.digest("hex") };
}

/** Reads the manifest, and compares each file with it. Throws a CommandError for any difference. */
export async function readManifest(folder: string): Promise<Manifest> {
  const manifest = parse(folder);
  for (const expected of manifest.files) {
    if (!PATH.test(expected.path)) throw damaged(folder, `${NAME} names ${expected.path}`);
    const found = await describeFile(folder, expected.path).catch((error: unknown) => {
      throw damaged(folder, errorMessage(error));
    });
    if (found.sha256 !== expected.sha256)
      throw damaged(folder, `${expected.path} has another check value than ${NAME} says`);
  }
  return manifest;
}

function parse(folder: string): Manifest {
  let value: JsonValue;
  try {
    value = parseJson(readFileSync(manifestPath(folder), "utf8")) as JsonValue;
  } catch (error) {
    throw damaged(folder, errorMessage(error));
  }
  if (!isObject(value) || !Array.isArray(value["files"]))
    throw damaged(folder, `${NAME} is no list`);
  if (value["backup"] !== FORM)
    throw new CommandError(
      EXIT.findings,
      `${folder} was made by a newer version (${String(value["version"])}): restore it with that one.`,
    );
  return value as unknown as Manifest;
}

function damaged(folder: string, reason: string): CommandError {
  return new CommandError(
    EXIT.findings,
    `${folder} is no whole backup: ${reason}. Nothing was changed. Use another backup.`,
  );
}
