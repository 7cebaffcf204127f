/** The identity of an instance: the same over restarts, another one on another machine. */

import { createHash, randomBytes } from "node:crypto";
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

/**
 * The identity of the gateway on a data folder. The folder may be a copy of another machine's, and
 * two machines may have one name: both count.
 */
export function instanceIdentity(dataDirectory: string, name = hostname()): InstanceIdentity {
  const { value } = keepFile(join(dataDirectory, "instance"), () =>
    randomBytes(16).toString("hex"),
  );
  const id = createHash("sha256").update(`${value}\0${name}`).digest("hex").slice(0, ID_LENGTH);
  return { id, name };
}
