/** The files of a configuration on disk, by the names under which they are pushed. */

import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { formatFinding, openConfig } from "@sluice/engine/config";
import { CommandError, EXIT } from "../exit.ts";

const GATEWAY = "gateway.yaml";
/** The generation that a folder was pulled from, or pushed as. */
const BASE_FILE = ".sluice-base";

/** Files to push. */
export interface FilesOnDisk {
  readonly files: Readonly<Record<string, string>>;
  /** The generation that they were made from, where the folder says it. */
  readonly base: number | undefined;
  /** Where the folder says it. */
  readonly baseFile: string;
}

/** Reads the files of a gateway file, or of the one in a folder. */
export function readFilesToPush(target: string): FilesOnDisk {
  const path = gatewayFileAt(target);
  const { documents, gateway, findings, own } = openConfig({
    path,
    cwd: process.cwd(),
    environment: process.env,
  });
  if (own !== undefined)
    throw new CommandError(
      EXIT.usage,
      `${target} is the file of one machine (config.source: postgres). Name the files to push: sluice push FOLDER.`,
    );
  if (gateway === undefined)
    throw new CommandError(EXIT.findings, findings.map(formatFinding).join("\n"));
  const home = dirname(path);
  const hasFolder = "pipelines" in (gateway.value as object);
  const nameOf = (file: string): string => {
    if (file === path) return GATEWAY;
    // Without the key, the files are found in the folder of pipelines wherever it is.
    const isUsual = !hasFolder && basename(dirname(file)) === "pipelines";
    return isUsual ? `pipelines/${basename(file)}` : relative(home, file);
  };
  const files = Object.fromEntries(
    documents.map((file) => [nameOf(file), readFileSync(file, "utf8")]),
  );
  const baseFile = join(home, BASE_FILE);
  return { files, base: readBase(baseFile), baseFile };
}

function gatewayFileAt(target: string): string {
  const path = resolve(target);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return path;
  const found = [join(path, GATEWAY), join(path, "config", GATEWAY)].find(
    (file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true,
  );
  if (found !== undefined) return found;
  throw new CommandError(EXIT.usage, `${target} has no ${GATEWAY} to push.`);
}

function readBase(file: string): number | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
