/** The identity of an instance: the same over restarts, another one on another machine. */

import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { keepFile } from "../resources/keep-file.ts";

/** What identifies a gateway among those that share its store. */
export interface InstanceIdentity {
  readonly id: string;
  /** The name of the machine or the pod. */
  readonly name: string;
}

const ID_LENGTH = 12;
/** The file of the value, in the data folder. */
const FILE = "instance";

/**
 * The identity of the gateway on a data folder. The folder may be a copy of another machine's, and
 * two machines may have one name: both count.
 */
export function instanceIdentity(dataDirectory: string, name = hostname()): InstanceIdentity {
  const { value } = keepFile(join(dataDirectory, FILE), () => randomBytes(16).toString("hex"));
  return { id: idOf(value, name), name };
}

/** Whether a folder is the data folder of an instance: another machine may have one at its path. */
export function isFolderOf({ id, name }: InstanceIdentity, dataDirectory: string): boolean {
  try {
    return idOf(readFileSync(join(dataDirectory, FILE), "utf8").trim(), name) === id;
  } catch {
    return false;
  }
}

function idOf(value: string, name: string): string {
  return createHash("sha256").update(`${value}\0${name}`).digest("hex").slice(0, ID_LENGTH);
}
