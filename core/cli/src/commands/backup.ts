/** `sluice backup`, `sluice restore` and `sluice upgrade --check`. */

import { errorMessage, type Store } from "@sluice/contract";
import { checkConfig } from "@sluice/engine/check";
import { formatFinding } from "@sluice/engine/config";
import { systemClock } from "@sluice/engine/telemetry";
import { counted } from "../counted.ts";
import { CommandError, EXIT } from "../exit.ts";
import { makeBackup } from "../backup/make-backup.ts";
import { restoreBackup } from "../backup/restore-backup.ts";
import { checkUpgrade } from "../backup/check-upgrade.ts";

interface Options {
  readonly config: string;
  readonly json?: boolean;
}

/** Makes a backup in a new folder. */
export async function backup(
  target: string,
  { config, json = false, withoutStore = false }: Options & { readonly withoutStore?: boolean },
): Promise<void> {
  process.umask(0o077);
  const { store, storeName, dataDirectory } = await installationAt(config);
  const isWithoutStore = withoutStore;
  const place = { dataDirectory, store, storeName, isWithoutStore, target };
  const manifest = await makeBackup(place).catch((error: unknown) => {
    throw failure(`The backup in ${target} is not whole: delete it`, error);
  });
  if (json) console.log(JSON.stringify(manifest, null, 2));
  else
    console.log(
      `${counted(manifest.files.length, "file")} of ${dataDirectory} are in ${target}. It holds secrets: keep it like the data folder.`,
    );
}

/** Restores a backup. */
export async function restore(
  folder: string,
  { config, json = false, force = false }: Options & { readonly force?: boolean },
): Promise<void> {
  process.umask(0o077);
  const { store, storeName, dataDirectory } = await installationAt(config);
  const isForced = force;
  const { manifest, replaced } = await restoreBackup({
    folder,
    dataDirectory,
    store,
    storeName,
    isForced,
  }).catch((error: unknown) => {
    throw failure("The restore was interrupted: repeat it with --force", error);
  });
  if (json) console.log(JSON.stringify({ ...manifest, replaced }, null, 2));
  else {
    const { files, created_at: createdAt } = manifest;
    console.log(`${counted(files.length, "file")} of ${createdAt} are in ${dataDirectory}.`);
    for (const path of replaced) console.log(`What was there is in ${path}.`);
  }
}

/** A fault of the disk in words; a refusal as it is. */
function failure(advice: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  return new CommandError(EXIT.findings, `${advice}. The reason: ${errorMessage(error)}`);
}

/** Says whether this version reads the configuration and the store. */
export async function upgrade({ config, json = false }: Options): Promise<void> {
  const checks = await checkUpgrade(config);
  if (json) console.log(JSON.stringify(checks, null, 2));
  else {
    const { formatCheck } = await import("@sluice/engine/doctor");
    for (const check of checks) console.log(formatCheck(check));
  }
  if (checks.some(({ grade }) => grade === "fail")) process.exitCode = EXIT.findings;
}

/** The installation of a configuration. Its store is not started. */
export async function installationAt(config: string): Promise<{
  readonly store: Store;
  readonly storeName: string;
  readonly dataDirectory: string;
}> {
  const { snapshot, definitions, findings } = await checkConfig({
    path: config,
    cwd: process.cwd(),
    environment: process.env,
  });
  if (snapshot === undefined)
    throw new CommandError(EXIT.findings, findings.map(formatFinding).join("\n"));
  const { use, options } = snapshot.store;
  const { dataDirectory } = snapshot.server;
  const definition = definitions.stores.get(use);
  if (definition === undefined)
    throw new CommandError(EXIT.findings, `No plugin provides the store ${use}.`);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const store = definition.create(options as never, { log, clock: systemClock, dataDirectory });
  return { store, storeName: use, dataDirectory };
}
