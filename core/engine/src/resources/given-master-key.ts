/** The master key that the operator gives, in a variable or in a file that a variable names. */

import { errorMessage } from "@sluice/contract";
import { readFileSync } from "node:fs";
import { StartError } from "./start-error.ts";

/** A given key. */
export interface GivenMasterKey {
  readonly key: string;
  /** What gave it, for messages: a variable, with the file that it names. */
  readonly source: string;
  /** The file that holds it; absent where the variable does. */
  readonly file?: string;
}

/** Characters that a master key has at least. */
export const MIN_MASTER_KEY_LENGTH = 24;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The key of `SLUICE_MASTER_KEY`, else the text of the file that `SLUICE_MASTER_KEY_FILE` names,
 * for secrets that a platform mounts. An empty variable counts as none. Throws a StartError where
 * both are set, for a file that cannot be read, and for a key that is too short or holds blanks.
 */
export function givenMasterKey(environment: Environment): GivenMasterKey | undefined {
  const { SLUICE_MASTER_KEY: key = "", SLUICE_MASTER_KEY_FILE: file = "" } = environment;
  if (file === "") {
    return key === "" ? undefined : checked({ key, source: "SLUICE_MASTER_KEY" });
  }
  if (key !== "")
    throw new StartError(
      "SLUICE_MASTER_KEY and SLUICE_MASTER_KEY_FILE are both set. Remove one of them.",
    );
  return checked({ key: read(file).trim(), source: `SLUICE_MASTER_KEY_FILE, ${file},`, file });
}

function checked(given: GivenMasterKey): GivenMasterKey {
  const { key, source } = given;
  if (/\s/.test(key)) {
    throw new StartError(
      `${source} holds blanks or line breaks, which no header can carry. Set it to a key without them.`,
    );
  }
  if (key.length < MIN_MASTER_KEY_LENGTH) {
    throw new StartError(
      `${source} has ${key.length} characters; it needs ${MIN_MASTER_KEY_LENGTH} or more.`,
    );
  }
  return given;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StartError(
      `SLUICE_MASTER_KEY_FILE: ${file} cannot be read (${errorMessage(error)}). Correct the path or its permissions.`,
    );
  }
}
