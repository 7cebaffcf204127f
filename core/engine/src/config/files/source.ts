/** The source of configuration files: the disk, or texts in memory. */

import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  type BigIntStats,
} from "node:fs";
import { basename, dirname } from "node:path";

/** The largest file that is read. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024;

/**
 * What reading a file gives: all its bytes, or why there are none, in words that hold nothing of
 * its contents.
 */
export type FileRead =
  | { readonly bytes: Buffer }
  | { readonly bytes: undefined; readonly reason: string; readonly fix?: string };

/** Files by their absolute paths. */
export interface ConfigSource {
  /** Reads a file whole. Never waits and never throws. */
  read(path: string): FileRead;
  has(path: string): boolean;
  /** The names in a folder. Throws what `readdirSync` throws. */
  list(folder: string): readonly string[];
}

/** The files as they are on disk. */
export const diskSource: ConfigSource = {
  read: readWhole,
  has: existsSync,
  list: (folder) => readdirSync(folder),
};

/** Texts by their paths and nothing else, but for the files of secrets: those are on disk. */
export function heldSource(texts: ReadonlyMap<string, string>): ConfigSource {
  return {
    read: (path) => heldRead(texts.get(path)) ?? readWhole(path),
    has: (path) => texts.has(path) || [...texts.keys()].some((held) => dirname(held) === path),
    list: (folder) => namesIn(texts, folder),
  };
}

/** Texts laid over the files of a source; a null takes a file away. */
export function overlaidSource(
  texts: ReadonlyMap<string, string | null>,
  under: ConfigSource = diskSource,
): ConfigSource {
  return {
    read: (path) =>
      texts.get(path) === null
        ? ABSENT
        : (heldRead(texts.get(path) ?? undefined) ?? under.read(path)),
    has: (path) => (texts.has(path) ? texts.get(path) !== null : under.has(path)),
    list: (folder) => {
      const gone = new Set([...texts].filter(([, text]) => text === null).map(([path]) => path));
      const held = new Map(
        [...texts].filter((entry): entry is [string, string] => entry[1] !== null),
      );
      const present = under.has(folder)
        ? under.list(folder).filter((name) => !gone.has(`${folder}/${name}`))
        : [];
      return [...new Set([...present, ...namesIn(held, folder)])];
    },
  };
}

/** A source that remembers what it gave, and can say whether it would give the same again. */
export interface RecordingSource extends ConfigSource {
  /** Looks again at everything that was asked for. */
  isStill(): boolean;
}

/** Records what a source gives. */
export function recordSource(source: ConfigSource): RecordingSource {
  const given = new Map<string, string>();
  const list = (folder: string): string => {
    try {
      return JSON.stringify([...source.list(folder)].sort());
    } catch (error) {
      return fileFault(error);
    }
  };
  return {
    read(path) {
      const read = source.read(path);
      given.set(`read ${path}`, fingerprint(read));
      return read;
    },
    has(path) {
      const has = source.has(path);
      given.set(`has ${path}`, String(has));
      return has;
    },
    list(folder) {
      given.set(`list ${folder}`, list(folder));
      return source.list(folder);
    },
    isStill: () =>
      [...given].every(([question, answer]) => {
        const path = question.slice(question.indexOf(" ") + 1);
        if (question.startsWith("read ")) return fingerprint(source.read(path)) === answer;
        return (question.startsWith("has ") ? String(source.has(path)) : list(path)) === answer;
      }),
  };
}

/** SHA-256 of bytes or a text, hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Why a file operation failed, in words. Never holds contents. */
export function fileFault(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return REASONS[code] ?? code;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is not a folder",
  ELOOP: "its links lead in a circle",
  ENXIO: "it is a socket or a device, not a file",
};

const ABSENT: FileRead = { bytes: undefined, reason: "there is no such file" };

function heldRead(text: string | undefined): FileRead | undefined {
  return text === undefined ? undefined : { bytes: Buffer.from(text) };
}

function namesIn(texts: ReadonlyMap<string, string>, folder: string): string[] {
  return [...texts.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path));
}

function fingerprint(read: FileRead): string {
  return read.bytes === undefined ? read.reason : sha256(read.bytes);
}

/**
 * Compares the file's state before and after the read: a file that changes meanwhile counts as
 * incomplete. Opens without blocking, because a FIFO without a writer would otherwise stop the
 * process.
 */
function readWhole(path: string): FileRead {
  let handle: number | undefined;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const before = fstatSync(handle, { bigint: true });
    if (before.isDirectory())
      return { bytes: undefined, reason: "it is a folder", fix: "name a file in it" };
    if (!before.isFile())
      return { bytes: undefined, reason: "it is a pipe or a device, not a file" };
    const size = Number(before.size);
    if (size > MAX_FILE_BYTES) {
      const reason = `it has ${size} bytes, and ${MAX_FILE_BYTES} are the limit`;
      return { bytes: undefined, reason, fix: "split it, or remove the unneeded part" };
    }
    const bytes = readUpTo(handle, size + 1);
    if (bytes.length === size && isSame(before, fstatSync(handle, { bigint: true })))
      return { bytes };
    return {
      bytes: undefined,
      reason: "it changed while it was read",
      fix: "finish writing it; the gateway reads it again",
    };
  } catch (error) {
    return { bytes: undefined, reason: fileFault(error) };
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function readUpTo(handle: number, maxBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const count = readSync(handle, bytes, length, maxBytes - length, null);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}

function isSame(left: BigIntStats, right: BigIntStats): boolean {
  return left.size === right.size && left.mtimeNs === right.mtimeNs && left.ino === right.ino;
}
