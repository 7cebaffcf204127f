/** The file `gateway.json` of a data folder: which process runs there, and where it is reached. */

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A gateway that runs. */
export interface RunningFile {
  readonly pid: number;
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly version: string;
  /** Path of the certificate that both listeners show; absent where they speak HTTP. */
  readonly certificate?: string;
}

const OWNER_ONLY = 0o600;

/** The part of the file that says which certificate the listeners show. */
export function certificateOf({
  tls,
}: {
  readonly tls?: { readonly certificate: string };
}): Pick<RunningFile, "certificate"> {
  return tls === undefined ? {} : { certificate: tls.certificate };
}

/**
 * Writes the file; a folder that cannot be written to is no reason not to serve. Returns what takes
 * the file away again.
 */
export function writeRunning(directory: string, running: RunningFile): () => void {
  const path = pathOf(directory);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.draft`, `${JSON.stringify(running)}\n`, { mode: OWNER_ONLY });
    renameSync(`${path}.draft`, path);
  } catch {
    return () => undefined;
  }
  return () => {
    if (readFile(path)?.pid === running.pid) rmSync(path, { force: true });
  };
}

/** The gateway that runs on a data folder; `undefined` when there is none, or it is not known. */
export function readRunning(directory: string): RunningFile | undefined {
  const running = readFile(pathOf(directory));
  return running !== undefined && lives(running.pid) ? running : undefined;
}

function pathOf(directory: string): string {
  return join(directory, "gateway.json");
}

function readFile(path: string): RunningFile | undefined {
  try {
    const read = JSON.parse(readFileSync(path, "utf8")) as Partial<RunningFile> | null;
    const isNamed = read?.certificate === undefined || typeof read.certificate === "string";
    const isWhole =
      isNamed &&
      Number.isSafeInteger(read?.pid) &&
      URL.canParse(read?.publicUrl ?? "") &&
      URL.canParse(read?.adminUrl ?? "");
    return isWhole ? (read as RunningFile) : undefined;
  } catch {
    return undefined;
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process lives too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
