/**
 * Writes several files of the configuration, all or none of them: each text to a new file beside
 * the old one, and then one rename after the other without a pause.
 */

import { randomUUID } from "node:crypto";
import { lstatSync, readFileSync, renameSync, unlinkSync, type Stats } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileFault } from "../source.ts";

/** One file to write. */
export interface TextWrite {
  /** Absolute. */
  readonly path: string;
  /** What it holds now; `undefined`: it is not there. */
  readonly before: Buffer | undefined;
  /** What it is to hold; `undefined` removes it. */
  readonly after: Buffer | undefined;
}

/** Why files cannot be written. */
export type WriteFaultKind =
  /** The folder or the file cannot be written. */
  | "read_only"
  /** There is no room. */
  | "full"
  /** A file is not what it was. */
  | "changed"
  /** The file is a link, or no file. */
  | "link";

/** A failure of a write. Nothing has changed. */
export class WriteFault extends Error {
  readonly kind: WriteFaultKind;
  readonly path: string;

  constructor(kind: WriteFaultKind, path: string, reason: string) {
    super(reason);
    this.kind = kind;
    this.path = path;
  }
}

interface Prepared extends TextWrite {
  /** The new file; `undefined` for one that goes. */
  readonly fresh: string | undefined;
  /** The old contents once more, for a write that fails half way. */
  readonly spare: string | undefined;
}

/** Writes the files. Rejects with a WriteFault, and changes none of them then. */
export async function writeTexts(writes: readonly TextWrite[]): Promise<void> {
  const made: string[] = [];
  try {
    const prepared: Prepared[] = [];
    for (const write of writes) {
      const fresh = await besides(write.path, write.after, made);
      const spare = writes.length > 1 ? await besides(write.path, write.before, made) : undefined;
      prepared.push({ ...write, fresh, spare });
    }
    // From here to the last rename no other code of this process runs.
    for (const write of prepared) checkBefore(write);
    takePlaces(prepared);
  } finally {
    // Those that took their places are gone.
    for (const path of made) await unlink(path).catch(() => undefined);
  }
  for (const folder of new Set(writes.map(({ path }) => dirname(path)))) await syncFolder(folder);
}

/** Reads a file as bytes; `undefined`: it is not there. Throws a WriteFault for a link. */
export function bytesOf(path: string): Buffer | undefined {
  const stats = statsOf(path);
  if (stats === undefined) return undefined;
  if (!stats.isFile())
    throw new WriteFault("link", path, stats.isSymbolicLink() ? "it is a link" : "it is no file");
  return readFileSync(path);
}

function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Writes contents to a new file beside another one, and notes its path in `made`. */
async function besides(
  path: string,
  contents: Buffer | undefined,
  made: string[],
): Promise<string | undefined> {
  if (contents === undefined) return undefined;
  const stats = statsOf(path);
  const fresh = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  let handle: FileHandle | undefined;
  try {
    handle = await open(fresh, "wx", 0o600);
    made.push(fresh);
    await handle.writeFile(contents);
    // It belongs to the owner of the old file, as far as this process may say so.
    if (stats !== undefined) await handle.chown(stats.uid, stats.gid).catch(() => undefined);
    await handle.chmod(stats === undefined ? NEW_MODE : stats.mode & 0o777);
    await handle.sync();
    return fresh;
  } catch (error) {
    throw faultOf(error, path);
  } finally {
    await handle?.close();
  }
}

const NEW_MODE = 0o644;

/** Throws a WriteFault for a file that is not what it was. */
function checkBefore({ path, before }: TextWrite): void {
  const now = bytesOf(path);
  const isSame = now === undefined || before === undefined ? now === before : now.equals(before);
  if (!isSame) throw new WriteFault("changed", path, "it has changed meanwhile");
}

/** Puts every new file in its place. A failure puts back those before it. */
function takePlaces(writes: readonly Prepared[]): void {
  const done: Prepared[] = [];
  for (const write of writes) {
    try {
      takePlace(write.path, write.fresh);
      done.push(write);
    } catch (error) {
      for (const { path, spare } of done.toReversed()) takePlace(path, spare);
      throw faultOf(error, write.path);
    }
  }
}

function takePlace(path: string, fresh: string | undefined): void {
  if (fresh === undefined) unlinkSync(path);
  else renameSync(fresh, path);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  // Some file systems sync no folders.
  await handle.sync().catch(() => undefined);
  await handle.close();
}

const KINDS: Readonly<Record<string, WriteFaultKind>> = {
  EACCES: "read_only",
  EPERM: "read_only",
  EROFS: "read_only",
  // A file that is a mount of its own cannot be replaced.
  EBUSY: "read_only",
  EXDEV: "read_only",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  ENOENT: "changed",
  EISDIR: "changed",
  ENOTDIR: "changed",
};

const WORDS: Readonly<Record<string, string>> = {
  EROFS: "it is on a read-only file system",
  EBUSY: "it is a mount of its own",
  ENOSPC: "no space is left",
};

function faultOf(error: unknown, path: string): unknown {
  if (error instanceof WriteFault) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const kind = KINDS[code];
  return kind === undefined ? error : new WriteFault(kind, path, WORDS[code] ?? fileFault(error));
}
