/** What a start begins with: options, and the configuration that it reads and checks. */

import type { Clock, Log, StateDriver } from "@sluice/contract";
import { checkConfig, type CheckedConfig, ConfigError, withTests } from "./check-config.ts";
import type { ConfigPlace } from "./config-place.ts";
import { formatFinding } from "./config/finding.ts";
import { diskSource, recordSource } from "./config/files/source.ts";
import type { OpenedConfig } from "./config/load.ts";
import type { Snapshot } from "./config/snapshot.ts";
import type { CanaryVerdict } from "./generation/rollout/canary/canary.ts";
import type { StartedWith } from "./generation/rollout/edit-parts.ts";
import { lastNumberBefore } from "./generation/history/entries.ts";
import { digestOnDisk } from "./generation/history/file-texts.ts";
import type { Generation } from "./generation/generation.ts";
import type { RollbackNotice } from "./generation/rollout/state/model.ts";
import { lostPipelines } from "./generation/history/lost-pipelines.ts";
import { openHistory } from "./generation/history/history.ts";
import { type StartPlace, startPlace } from "./stored-start.ts";
import { findLastGood, wasReturned } from "./generation/history/last-good.ts";
import type { Definitions } from "./registry/definitions.ts";

/** Differs from the digest of any contents. */
const NO_DIGEST = "";

/** What starting needs beside the configuration. */
export interface StartOptions extends ConfigPlace {
  readonly log: Log;
  readonly clock?: Clock;
  /** Starts with the newest generation of the history when the files have findings. */
  readonly mayUseLastGood?: boolean;
  /**
   * Starts with the newest generation of the history, whatever the files say: what the other
   * workers run.
   */
  readonly mustBeNewest?: boolean;
  /**
   * The digest of what the other workers run, where it is known: files that come to it need no
   * history.
   */
  readonly othersRun?: string | undefined;
  /** Absent: the process is the whole gateway. */
  readonly worker?: WorkerPlace;
  /**
   * Called when all is ready, before connections of clients are accepted: for work that holds the
   * event loop.
   */
  readonly onReady?: () => void;
  /**
   * Called as soon as connections of clients are accepted: from then on a stop has to let requests
   * finish.
   */
  readonly onListening?: () => void;
}

/** A process among several that serve as one. */
export interface WorkerPlace {
  /** From 1, one of a kind among those that live. */
  readonly number: number;
  /** Where the supervising process reads what code holds the event loop. */
  readonly reportFd: number;
  /** Shared state in the memory of the supervising process. */
  readonly remoteState: StateDriver;
  /** Tells the supervising process which generation serves from now on. */
  readonly onServe: (generation: Generation) => void;
  /** Tells the supervising process what is to be said of a canary. */
  readonly onVerdict: (verdict: CanaryVerdict) => void;
  /** Tells the other processes what has failed here. */
  readonly onRollback: (notice: RollbackNotice) => void;
}

/** What a start begins with. */
export interface Start extends StartPlace {
  readonly opened: OpenedConfig;
  readonly definitions: Definitions;
  readonly snapshot: Snapshot;
  /** The contents that are started with, when they are not those of the files. */
  readonly held: StartedWith | undefined;
  /**
   * Whether it is what other workers run: an edit that was saved meanwhile applies as a save does,
   * and not as what was asked for.
   */
  readonly isNewest: boolean;
  /**
   * That of the newest generation before, as it was when the files were read: another worker may
   * make one meanwhile.
   */
  readonly lastNumber: number;
  /**
   * Whether everything that was read is on disk as it was read: files, references and the folder of
   * pipelines.
   */
  readonly isStill: () => boolean;
}

/** A configuration whose pipelines are gone has a finding, and no snapshot. */
function withoutLost(read: CheckedConfig, log: Log): CheckedConfig {
  const finding = read.snapshot === undefined ? undefined : lostPipelines(read.opened, log);
  return finding === undefined ? read : { ...read, snapshot: undefined, findings: [finding] };
}

/** Reads and checks what a start begins with. Throws a ConfigError with findings. */
export async function prepareStart(options: StartOptions): Promise<Start> {
  const { log } = options;
  const found = await startPlace(options);
  const { place, stored } = found;
  const source = recordSource(place.source ?? diskSource);
  const asRead = await checkConfig({ ...place, source });
  const read = stored === undefined ? withoutLost(asRead, log) : asRead;
  // Without the flag the manager tests them, once everything else is there.
  const inFiles = options.mayUseLastGood === true ? await withTests(read) : read;
  const isNewest = options.mustBeNewest === true;
  const lastGood =
    inFiles.snapshot === undefined || isNewest ? findLastGood(inFiles.opened, log) : undefined;
  const digest = inFiles.snapshot?.digest;
  const isSame =
    digest !== undefined &&
    (lastGood?.digest === digest || (isNewest && options.othersRun === digest));
  const held = (options.mayUseLastGood === true || isNewest) && !isSame ? lastGood : undefined;
  const checked =
    held === undefined ? inFiles : await checkConfig({ ...place, source: held.source });
  const { definitions, snapshot, findings } = checked;
  if (snapshot === undefined) {
    if (held === undefined) throw new ConfigError(findings, lastGood?.contentsOf);
    throw new ConfigError([...inFiles.findings, ...findings]);
  }
  if (held !== undefined) {
    const { contentsOf: generation } = held;
    log.warn("started with the last good configuration, not with the files", {
      generation,
      findings: inFiles.findings.map(formatFinding),
    });
  }
  const { opened } = inFiles;
  if (stored !== undefined) {
    // The fleet says what applies from here on. Every instance has the numbers of the store.
    if (held !== undefined) stored.replace(held.contentsOf, held.texts);
    const start = { ...found, opened: checked.opened, definitions, snapshot, held: undefined };
    const lastNumber = stored.generation - 1;
    return { ...start, isNewest, lastNumber, isStill: () => source.isStill() };
  }
  const isNumbered = isNewest && lastGood !== undefined && lastGood.digest === snapshot.digest;
  const lastNumber = isNumbered
    ? lastGood.contentsOf - 1
    : lastNumberBefore(snapshot, openHistory(snapshot.server.dataDirectory, log));
  // What was rolled back, and a canary that was returned, stays in the files. What was saved
  // besides is an edit that applies.
  const stays = !isNewest || wasReturned(opened, digest, log);
  const onDisk = stays ? digestOnDisk(opened, place.source) : held?.onDisk;
  // An edit that was saved since the files were read must differ from what the start sets aside.
  const started = held && { ...held, onDisk: source.isStill() ? onDisk : NO_DIGEST };
  return {
    ...found,
    opened,
    definitions,
    snapshot,
    held: started,
    isNewest,
    lastNumber,
    isStill: () => source.isStill(),
  };
}
