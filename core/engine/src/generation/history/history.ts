/**
 * The history of generations: what ran, since when and why, with the contents of its files, kept in
 * the data folder.
 */

import { readdirSync, readFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import type { Effect } from "../diff/effects/effect.ts";

/** The origin of a generation. */
export type GenerationOrigin = "start" | "files" | "push" | "rollback" | "last_good" | "canary";

/** The author of a generation. */
export interface Author {
  /** The name that the caller gave, `file` or `auto_rollback`. */
  readonly name: string;
  /**
   * `caller`: the caller gave its own name. `file`: a file was saved. `gateway`: the setting of
   * this name made the gateway act.
   */
  readonly from: "caller" | "file" | "gateway";
}

/** One generation of the history. */
export interface HistoryEntry {
  readonly generation: number;
  readonly digest: string;
  readonly atMs: number;
  readonly origin: GenerationOrigin;
  /** The generation whose contents a rollback, or a start from the last good one, brought back. */
  readonly contentsOf: number | undefined;
  /** Whether the shrink guard was overruled. */
  readonly isForced: boolean;
  /** The gateway file, absolute. */
  readonly path: string;
  /** Absent for a start, for a rollback without a name, and in the histories of older versions. */
  readonly author?: Author;
  /** Files that differ from the generation before, as `config/gateway.yaml (changed)`. */
  readonly changes: readonly string[];
  /** The reason of an automatic rollback. Absent for a requested one. */
  readonly reason?: string;
  /**
   * Why a canary was returned. Such a generation never served all keys, and is nothing to go back
   * to.
   */
  readonly returned?: string;
  /**
   * The files on disk that these contents replaced. The contents stay while the files are
   * unchanged.
   */
  readonly onDisk?: string;
  /** The effects of the edit, the worst first. Absent in the histories of older versions. */
  readonly effects?: readonly Pick<Effect, "risk" | "about" | "message">[];
}

/** Contents of files by their absolute paths. They hold references to secrets, never values. */
export type FileTexts = ReadonlyMap<string, string>;

/** The generations of an installation. */
export interface GenerationHistory {
  /** Newest last. */
  readonly entries: readonly HistoryEntry[];
  /**
   * Keeps a generation, and writes it behind. A failure to write is logged: what runs does not
   * depend on it.
   */
  add(entry: HistoryEntry, texts: FileTexts): void;
  /** Settles when everything that was added is on disk, or could not be. Never rejects. */
  flush(): Promise<void>;
  /** The contents of a generation's files; `undefined` when they are not kept or cannot be read. */
  textsOf(generation: number): FileTexts | undefined;
  /** Reads what other workers of this gateway have added since. */
  refresh(): void;
}

const KEPT = 20;
const FILE_NAME = /^\d{8}\.json$/;
const OWNER_ONLY = 0o600;

interface StoredEntry extends HistoryEntry {
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/** Opens the history of a data folder. Damaged files are logged and left out. */
export function openHistory(dataDirectory: string, log: Log): GenerationHistory {
  const folder = join(dataDirectory, "generations");
  const pathOf = (generation: number): string =>
    join(folder, `${String(generation).padStart(8, "0")}.json`);
  const readAll = (names: readonly string[]): HistoryEntry[] =>
    names.flatMap((name): HistoryEntry[] => {
      const stored = readEntry(join(folder, name));
      if (stored === undefined)
        log.warn("a generation of the history cannot be read", { path: join(folder, name) });
      return stored === undefined ? [] : [withoutFiles(stored)];
    });
  const entries = readAll(namesIn(folder));
  /** Entries that are not on disk yet. */
  const pending = new Map<number, FileTexts>();
  let written: Promise<void> = Promise.resolve();
  const write = async (
    entry: HistoryEntry,
    texts: FileTexts,
    old: readonly HistoryEntry[],
  ): Promise<void> => {
    const stored: StoredEntry = {
      ...entry,
      files: [...texts].map(([path, text]) => ({ path, text })),
    };
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeWhole(pathOf(entry.generation), JSON.stringify(stored));
      for (const { generation } of old) await rm(pathOf(generation), { force: true });
    } catch (error) {
      log.warn("the generation could not be written to the history", {
        generation: entry.generation,
        error,
      });
    }
    if (pending.get(entry.generation) === texts) pending.delete(entry.generation);
  };
  return {
    entries,
    add(entry, texts) {
      entries.push(entry);
      pending.set(entry.generation, texts);
      const old = entries.splice(0, entries.length - KEPT);
      written = written.then(() => write(entry, texts, old));
    },
    flush: () => written,
    refresh() {
      const last = entries.at(-1)?.generation ?? 0;
      entries.push(...readAll(namesIn(folder).filter((name) => Number.parseInt(name, 10) > last)));
      entries.splice(0, entries.length - KEPT);
    },
    textsOf(generation) {
      const texts = pending.get(generation);
      if (texts !== undefined) return texts;
      const stored = readEntry(pathOf(generation));
      return stored === undefined
        ? undefined
        : new Map(stored.files.map(({ path, text }) => [path, text]));
    },
  };
}

/**
 * The number of a candidate where several workers keep one history: contents that another worker
 * has just made a generation of are the same generation here.
 */
export function sharedNumber(history: GenerationHistory, digest: string, last: number): number {
  history.refresh();
  const same = history.entries.findLast(
    (entry) => entry.generation > last && entry.digest === digest && entry.returned === undefined,
  );
  return same?.generation ?? Math.max(last, history.entries.at(-1)?.generation ?? 0) + 1;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => FILE_NAME.test(name))
      .sort();
  } catch {
    // No folder yet: nothing ran here before.
    return [];
  }
}

function readEntry(path: string): StoredEntry | undefined {
  try {
    const stored = parseJson(readFileSync(path, "utf8")) as Partial<StoredEntry> | null;
    const isWhole =
      Number.isSafeInteger(stored?.generation) &&
      typeof stored?.digest === "string" &&
      Array.isArray(stored.files);
    return isWhole ? (stored as StoredEntry) : undefined;
  } catch {
    return undefined;
  }
}

function withoutFiles({ files: _files, ...entry }: StoredEntry): HistoryEntry {
  return entry;
}

/** It appears whole or not at all, also when the power fails. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  const handle = await open(draft, "w", OWNER_ONLY);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
}
