/** The start of a gateway whose configuration is in its store. */

import { resolve } from "node:path";
import { errorMessage, type Log, type Store, type StoredConfiguration } from "@sluice/contract";
import { checkConfig, ConfigError } from "./check-config.ts";
import type { ConfigPlace } from "./config-place.ts";
import { readDocument } from "./config/files/document.ts";
import { diskSource } from "./config/files/source.ts";
import { namesStore } from "./config/files/stored/own-sections.ts";
import { EMPTY_FILES, EMPTY_GENERATION, StoredFiles } from "./config/files/stored/stored-files.ts";
import type { OpenOptions } from "./config/load.ts";
import { readCopy } from "./fleet/config-copy.ts";
import { StartError } from "./resources/start-error.ts";
import { systemClock } from "./telemetry/clock.ts";

/** Where the configuration of a start is read. */
export interface StartPlace {
  readonly place: OpenOptions & Pick<ConfigPlace, "ownPlugins">;
  /** Absent: the configuration is in files. */
  readonly stored: StoredFiles | undefined;
  /** The store did not answer, and a copy of its configuration is taken. */
  readonly isCopy: boolean;
}

type StartPlaceOptions = ConfigPlace & { readonly log: Log };

/** The wait for the store. */
const READ_MS = 10_000;

/**
 * Finds out where the configuration is, and reads it from the store where it is there. Throws a
 * ConfigError for the sections of this machine, and a StartError without a configuration.
 */
export async function startPlace(options: StartPlaceOptions): Promise<StartPlace> {
  const { path, cwd, environment, pluginsFrom, ownPlugins } = options;
  const place = {
    path,
    cwd,
    environment,
    ...(pluginsFrom !== undefined && { pluginsFrom }),
    ...(ownPlugins !== undefined && { ownPlugins }),
  };
  if (!isInStore(resolve(cwd, path))) return { place, stored: undefined, isCopy: false };
  const { configuration, isCopy } = await readFromStore(options, place);
  const { id = EMPTY_GENERATION, files = EMPTY_FILES } = configuration ?? {};
  const stored = new StoredFiles(resolve(cwd, path), id, files);
  return { place: { ...place, source: stored.source, isStored: true }, stored, isCopy };
}

function isInStore(path: string): boolean {
  // Most files have no such section, and are parsed once.
  const text = diskSource.read(path).bytes?.toString("utf8") ?? "";
  if (!/\bconfig\b/.test(text)) return false;
  const { document } = readDocument(path, path);
  return document !== undefined && namesStore(document);
}

async function readFromStore(
  { log }: StartPlaceOptions,
  place: StartPlace["place"],
): Promise<{ readonly configuration: StoredConfiguration | undefined; readonly isCopy: boolean }> {
  const { snapshot, definitions, findings } = await checkConfig(place);
  if (snapshot === undefined) throw new ConfigError(findings);
  const { use, options } = snapshot.store;
  const { dataDirectory } = snapshot.server;
  const definition = definitions.stores.get(use);
  const store: Store | undefined = definition?.create(options as never, {
    log,
    clock: systemClock,
    dataDirectory,
  });
  if (store?.configuration === undefined)
    throw new StartError(
      `The store ${use} holds no configuration: config.source: postgres needs store: { use: postgres }.`,
    );
  try {
    return {
      configuration: await store.configuration(AbortSignal.timeout(READ_MS)),
      isCopy: false,
    };
  } catch (error) {
    const configuration = readCopy(dataDirectory);
    if (configuration === undefined)
      throw new StartError(
        `The configuration cannot be read from the store ${use}, and ${dataDirectory} has no copy of it: ${errorMessage(error)}`,
        { cause: error },
      );
    log.warn("started with the last configuration of the store, which does not answer", {
      generation: configuration.id,
      error,
    });
    return { configuration, isCopy: true };
  }
}
