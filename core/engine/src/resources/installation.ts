/** The installation's own secrets: the master key and the pepper, made on the first start and kept in the data folder. */

import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What an installation knows about itself. */
export interface Installation {
  readonly masterKey: string;
  readonly pepper: Buffer;
  /** Whether this start made the master key: it is printed this once. */
  readonly isNewMasterKey: boolean;
}

/** What decides how the secrets are found. */
export interface InstallationOptions {
  readonly dataDirectory: string;
  /** `SLUICE_MASTER_KEY`, when set. */
  readonly masterKey: string | undefined;
  /** Whether a master key may be made: only where nobody but this machine can connect. */
  readonly mayMakeMasterKey: boolean;
}

/** A start that cannot go on; the message is one line for a person. */
export class StartError extends Error {}

const MIN_MASTER_KEY_LENGTH = 24;
const OWNER_ONLY = 0o600;

/** Opens the installation. Throws a StartError without a master key on a public bind, or with one that is too short. */
export function openInstallation(options: InstallationOptions): Installation {
  const { dataDirectory, masterKey } = options;
  mkdirSync(dataDirectory, { recursive: true });
  const pepper = Buffer.from(keep(join(dataDirectory, "pepper"), () => randomBytes(32).toString("hex")).value, "hex");
  if (masterKey !== undefined && masterKey !== "") {
    if (masterKey.length < MIN_MASTER_KEY_LENGTH) {
      throw new StartError(`SLUICE_MASTER_KEY has ${masterKey.length} characters; it needs ${MIN_MASTER_KEY_LENGTH} or more.`);
    }
    return { masterKey, pepper, isNewMasterKey: false };
  }
  if (!options.mayMakeMasterKey) {
    throw new StartError("No master key: set SLUICE_MASTER_KEY (24 characters or more) before listening on a public address.");
  }
  const kept = keep(join(dataDirectory, "master.key"), () => `sk-${randomBytes(32).toString("base64url")}`);
  return { masterKey: kept.value, pepper, isNewMasterKey: kept.isNew };
}

/** Reads a file, or makes it, readable by its owner alone. Two processes that start at once agree on one value. */
function keep(path: string, make: () => string): { value: string; isNew: boolean } {
  try {
    writeFileSync(path, `${make()}\n`, { mode: OWNER_ONLY, flag: "wx" });
    return { value: readFileSync(path, "utf8").trim(), isNew: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return { value: readFileSync(path, "utf8").trim(), isNew: false };
  }
}
