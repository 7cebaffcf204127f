/**
 * The installation's own secrets: the master key and the pepper, made on the first start and kept
 * in the data folder.
 */

import { errorMessage } from "@sluice/contract";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { givenMasterKey, MIN_MASTER_KEY_LENGTH } from "./given-master-key.ts";
import { keepFile } from "./keep-file.ts";
import { StartError } from "./start-error.ts";
import { unwritable } from "./writable-folder.ts";

export { StartError } from "./start-error.ts";

/** What an installation knows about itself. */
export interface Installation {
  readonly masterKey: string;
  readonly pepper: Buffer;
  /** Whether this start made the master key: it is printed this once. */
  readonly isNewMasterKey: boolean;
  /** The file that keeps the master key; `undefined` when a variable holds it. */
  readonly masterKeyFile: string | undefined;
  /** A store whose keys were made under another pepper is used all the same. Absent: no. */
  readonly mayUseForeignPepper?: boolean;
}

/** What decides how the secrets are found. */
export interface InstallationOptions {
  readonly dataDirectory: string;
  /** The variables that may give the master key: `givenMasterKey`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a master key may be made: only where no other machine can connect. */
  readonly mayMakeMasterKey: boolean;
  /** Absent: no. */
  readonly mayUseForeignPepper?: boolean;
}

const PEPPER_BYTES = 32;

/**
 * Opens the installation. Throws a StartError without a master key on a public bind, for secrets
 * that are too short, and for a data folder that cannot be used.
 */
export function openInstallation(options: InstallationOptions): Installation {
  const { dataDirectory } = options;
  const given = givenMasterKey(options.environment);
  if (given === undefined && !options.mayMakeMasterKey) {
    throw new StartError(
      "No master key: set SLUICE_MASTER_KEY, or SLUICE_MASTER_KEY_FILE to the path of a file with it (24 characters or more), before listening on a public address.",
    );
  }
  try {
    mkdirSync(dataDirectory, { recursive: true });
    const pepper = readPepper(join(dataDirectory, "pepper"));
    const { mayUseForeignPepper = false } = options;
    const found = { pepper, mayUseForeignPepper };
    if (given !== undefined)
      return { masterKey: given.key, isNewMasterKey: false, masterKeyFile: given.file, ...found };
    return { ...found, ...readMasterKey(join(dataDirectory, "master.key")) };
  } catch (error) {
    if (error instanceof StartError) throw error;
    // What the system says of making a folder on a read-only disk names neither.
    const reason = unwritable(dataDirectory) ?? errorMessage(error);
    throw new StartError(
      `The data folder ${dataDirectory} cannot be used: ${reason}. Correct it, or name another in server.data_directory.`,
      {
        cause: error,
      },
    );
  }
}

function readPepper(path: string): Buffer {
  const pepper = Buffer.from(
    keepFile(path, () => randomBytes(PEPPER_BYTES).toString("hex")).value,
    "hex",
  );
  if (pepper.length < PEPPER_BYTES) {
    throw new StartError(
      `${path} is damaged: without it no stored key can be recognised. Put it back from a copy of the data folder.`,
    );
  }
  return pepper;
}

function readMasterKey(
  path: string,
): Pick<Installation, "masterKey" | "isNewMasterKey" | "masterKeyFile"> {
  const { value, isNew } = keepFile(path, () => `sk-${randomBytes(32).toString("base64url")}`);
  // An empty or cut file must not become a key that is known to all.
  if (value.length < MIN_MASTER_KEY_LENGTH) {
    throw new StartError(
      `${path} holds no master key. Delete it, and the next start makes a new one.`,
    );
  }
  return { masterKey: value, isNewMasterKey: isNew, masterKeyFile: path };
}
