/** The installation: the data folder with its secrets, and the master key. */

import { errorReason } from "@sluice/contract";
import { existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ServerSettings } from "../config/server-settings.ts";
import { givenMasterKey } from "../resources/given-master-key.ts";
import { nearestFolder, unwritable } from "../resources/writable-folder.ts";
import type { Check } from "./check.ts";

const MB = 1024 * 1024;
const LOW_SPACE_MB = 1_024;
const NO_SPACE_MB = 50;

/** Looks at the data folder. Makes and writes nothing. */
export function checkDataFolder(folder: string): Check[] {
  const name = "data folder";
  const place = nearestFolder(folder);
  const isThere = place === folder;
  const fault = unwritable(folder);
  if (fault !== undefined) {
    const fix = `Let this user write there, or name another folder in server.data_directory.`;
    return [{ name, grade: "fail", found: fault, fix }];
  }
  const { uid, mode } = statSync(place);
  const checks: Check[] = [];
  if (isThere && process.getuid !== undefined && uid !== process.getuid()) {
    const fix =
      "Run the gateway, and this command, as the folder's owner: what another user writes there the gateway cannot read.";
    checks.push({
      name,
      grade: "warn",
      found: `${folder} belongs to user ${uid}, this is ${process.getuid()}`,
      fix,
    });
  } else checks.push({ name, grade: "ok", found: isThere ? folder : `${folder} will be made` });
  if (isThere && (mode & 0o007) !== 0) {
    const secrets = ["master.key", "pepper"].filter(
      (file) => (statSync(join(folder, file), { throwIfNoEntry: false })?.mode ?? 0) & 0o077,
    );
    if (secrets.length > 0) {
      const fix = `chmod 600 ${secrets.map((file) => join(folder, file)).join(" ")}`;
      checks.push({
        name: "secrets",
        grade: "fail",
        found: `${secrets.join(", ")} can be read by others`,
        fix,
      });
    }
  }
  return [...checks, space(place)];
}

function space(place: string): Check {
  const { bavail, bsize } = statfsSync(place);
  const free = Math.floor((bavail * bsize) / MB);
  const found = `${free} MB free`;
  const fix =
    "Make room: every request's row is written to the outbox there before its client sees the end of the reply.";
  if (free < NO_SPACE_MB) return { name: "disk", grade: "fail", found, fix };
  return free < LOW_SPACE_MB
    ? { name: "disk", grade: "warn", found, fix }
    : { name: "disk", grade: "ok", found };
}

/** Looks for the master key: it is there, or the start may make one. */
export function checkMasterKey(
  { dataDirectory, host, admin }: ServerSettings,
  environment: Readonly<Record<string, string | undefined>>,
): Check {
  const name = "master key";
  const path = join(dataDirectory, "master.key");
  try {
    const given = givenMasterKey(environment);
    if (given !== undefined) return { name, grade: "ok", found: given.file ?? given.source };
  } catch (error) {
    const fix = "Set one of 24 characters or more.";
    return { name, grade: "fail", found: errorReason(error), fix };
  }
  const isLocal = [host, admin.host].every(
    (address) => address === "localhost" || address === "::1" || address.startsWith("127."),
  );
  if (!isLocal) {
    const fix =
      "Set SLUICE_MASTER_KEY or SLUICE_MASTER_KEY_FILE, 24 characters or more: on a public address none is made.";
    return { name, grade: "fail", found: "there is none", fix };
  }
  if (!existsSync(path)) return { name, grade: "ok", found: "the first start makes one" };
  try {
    if (readFileSync(path, "utf8").trim().length >= 24) return { name, grade: "ok", found: path };
    return {
      name,
      grade: "fail",
      found: `${path} holds none`,
      fix: "Delete it, and the next start makes one.",
    };
  } catch (error) {
    return {
      name,
      grade: "fail",
      found: `${path} cannot be read (${errorReason(error)})`,
      fix: "Let this user read it.",
    };
  }
}
