/** Readings of contents, one after the other: an older one is never applied after a newer one. */

import { isGatewayError, type Log } from "@sluice/contract";
import type { ApplyResult } from "./apply.ts";
import type { CanaryPlan } from "./canary/canary.ts";

/** How the files are read. */
export interface ReadingOptions {
  /** It was requested: it replaces what was rolled back. */
  isAsked: boolean;
  /** The digest that the shrink guard refused. */
  readonly force?: string | undefined;
  readonly canary?: CanaryPlan | undefined;
  /** The name that the caller gave. */
  author?: string | undefined;
}

/** A result that is handed over before the next reading begins. */
export interface HandedOver<T = ApplyResult> {
  readonly result: Promise<T>;
}

/** What readings need. */
export interface ReadingParts {
  readonly log: Log;
  /** Aborted when the gateway stops. */
  readonly closing: AbortSignal;
  /** Counts a reading. Returns its end. */
  readonly begin: () => () => void;
}

interface FilesReading extends ReadingOptions {
  readonly result: Promise<ApplyResult>;
}

/** The readings of one process. */
export class Readings {
  readonly #parts: ReadingParts;
  #last: Promise<unknown> = Promise.resolve();
  /** The reading of the files that has not read them yet. */
  #ofFiles: FilesReading | undefined;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
  }

  /**
   * Runs a reading after the one before. What it applies is handed to the manager before the next
   * one begins.
   */
  run<T = ApplyResult>(read: () => Promise<HandedOver<T>>): Promise<T> {
    const { begin, closing, log } = this.#parts;
    const end = begin();
    const reading = this.#last.then(read).finally(end);
    this.#last = reading.catch(() => undefined);
    const applied = reading.then(({ result }) => result);
    applied.catch((error: unknown) => {
      if (!closing.aborted && !isGatewayError(error)) log.error("an edit failed", { error });
    });
    return applied;
  }

  /**
   * Reads the files, or joins the reading that is under way: it ends with a check that the
   * files are still what was read, so it also answers callers that ask before its end. `read` calls
   * `onRead` when no caller can join any more.
   */
  files(
    options: ReadingOptions,
    read: (reading: ReadingOptions, onRead: () => void) => Promise<HandedOver>,
  ): Promise<ApplyResult> {
    const current = this.#ofFiles;
    const { canary, force, isAsked, author } = options;
    if (
      current !== undefined &&
      current.force === force &&
      current.canary === undefined &&
      canary === undefined
    ) {
      current.isAsked ||= isAsked;
      current.author ??= author;
      return current.result;
    }
    const reading: ReadingOptions = { ...options };
    const onRead = (): void => {
      if (this.#ofFiles?.result === result) this.#ofFiles = undefined;
    };
    const result = this.run(() => read(reading, onRead));
    this.#ofFiles = Object.assign(reading, { result });
    return result;
  }
}
