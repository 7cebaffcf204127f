/** Makes a backup of an installation, also while its gateway serves. */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Store } from "@sluice/contract";
import { outboxFiles, pepperPrint } from "@sluice/engine/installation";
import { VERSION } from "@sluice/engine/version";
import { CommandError, EXIT } from "../exit.ts";
import { describeFile, type Manifest, manifestOf, manifestPath } from "./manifest.ts";

const OWNER_ONLY = 0o600;
const FOLDER_MODE = 0o700;
const SECRETS = ["pepper", "master.key", "store.id"];

/** What is backed up, and where to. */
export interface BackupPlace {
  readonly dataDirectory: string;
  readonly store: Pick<Store, "copyTo">;
  readonly storeName: string;
  /** Whether the store is left out. */
  readonly isWithoutStore: boolean;
  /** A folder that is new or empty. */
  readonly target: string;
}

/**
 * Makes a backup. Rows move from the outbox to the store: the outbox is copied first, so that each
 * row is in one of the copies, or in both. Throws a CommandError.
 */
export async function makeBackup(place: BackupPlace): Promise<Manifest> {
  const { dataDirectory, store, storeName, isWithoutStore, target } = place;
  if (!existsSync(dataDirectory))
    throw new CommandError(EXIT.notStarted, `There is no data folder ${dataDirectory}.`);
  if (store.copyTo === undefined && !isWithoutStore)
    throw new CommandError(
      EXIT.findings,
      `The store ${storeName} has backups of its own. Make one of them, and repeat this with --without-store.`,
    );
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new CommandError(EXIT.usage, `${target} is not empty: name a new folder.`);
  mkdirSync(join(target, "generations"), { recursive: true, mode: FOLDER_MODE });
  const paths = [
    ...SECRETS.filter((name) => existsSync(join(dataDirectory, name))),
    ...outboxFiles(dataDirectory),
    ...generations(dataDirectory),
  ].filter((path) => copied(join(dataDirectory, path), join(target, path)));
  if (!isWithoutStore) {
    await store.copyTo?.(join(target, "store.db"));
    paths.push("store.db");
  }
  const pepper = join(target, "pepper");
  const manifest = manifestOf({
    version: VERSION,
    created_at: new Date().toISOString(),
    store: isWithoutStore ? null : storeName,
    pepper: existsSync(pepper)
      ? pepperPrint(Buffer.from(readFileSync(pepper, "utf8").trim(), "hex"))
      : null,
    files: await Promise.all(paths.map((path) => describeFile(target, path))),
  });
  const draft = `${manifestPath(target)}.draft`;
  writeFileSync(draft, `${JSON.stringify(manifest, null, 2)}\n`, { mode: OWNER_ONLY });
  renameSync(draft, manifestPath(target));
  return manifest;
}

function generations(dataDirectory: string): readonly string[] {
  const folder = join(dataDirectory, "generations");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => `generations/${name}`);
}

/** Copies a file. One that the gateway has deleted since it was listed is left out. */
function copied(from: string, to: string): boolean {
  try {
    copyFileSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
