/**
 * The installation: the data folder and its secrets, the ports, and whether a gateway runs here
 * already.
 */

import { existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { ServerSettings, TlsSettings } from "@sluice/engine/config";
import { givenMasterKey, nearestFolder, unwritable } from "@sluice/engine/installation";
import { sendRequest } from "../send-request.ts";
import type { Check } from "./check.ts";
import { reasonOf } from "../reason-of.ts";

const MB = 1024 * 1024;
const LOW_SPACE_MB = 1_024;
const NO_SPACE_MB = 50;
const ASK_MS = 2_000;

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
    return { name, grade: "fail", found: reasonOf(error), fix };
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
      found: `${path} cannot be read (${reasonOf(error)})`,
      fix: "Let this user read it.",
    };
  }
}

/** What was found at the ports. */
export interface Ports {
  readonly checks: readonly Check[];
  /** Whether a gateway answers: it has the store open. */
  readonly isRunning: boolean;
}

/** Checks that the ports are free, or that a gateway holds them. */
export async function checkPorts({
  host,
  port,
  admin,
  tls,
}: Pick<ServerSettings, "host" | "port" | "admin" | "tls">): Promise<Ports> {
  const isRunning = port !== 0 && (await answers(host, port, tls));
  const checks: Check[] = [];
  for (const [what, address] of [
    ["port", { host, port }] as const,
    ["admin port", admin] as const,
  ]) {
    const named = `${address.host}:${address.port}`;
    if (address.port === 0)
      checks.push({ name: what, grade: "ok", found: `${named}: any free one` });
    else if (isRunning)
      checks.push({
        name: what,
        grade: "ok",
        found: what === "port" ? `${named}: a gateway answers` : named,
      });
    else checks.push(await free(what, address.host, address.port));
  }
  return { checks, isRunning };
}

async function free(name: string, host: string, port: number): Promise<Check> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    return { name, grade: "ok", found: `${host}:${port} is free` };
  } catch (error) {
    const reason = reasonOf(error);
    const what =
      reason === "EADDRINUSE" ? "is in use by something else" : `cannot be listened on (${reason})`;
    const variable = name === "port" ? "SLUICE_PORT" : "SLUICE_ADMIN_PORT";
    return {
      name,
      grade: "fail",
      found: `${host}:${port} ${what}`,
      fix: `End what holds it, or name another one: ${variable}, or server in gateway.yaml.`,
    };
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

async function answers(host: string, port: number, tls: TlsSettings | undefined): Promise<boolean> {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host;
  try {
    const certificate = tls === undefined ? undefined : readFileSync(tls.certificate, "utf8");
    const url = `${tls === undefined ? "http" : "https"}://${reachable}:${port}/health/live`;
    const { status, json } = await sendRequest(
      url,
      { method: "GET", headers: {}, timeoutMs: ASK_MS },
      certificate,
    );
    return status === 200 && isObject(json as JsonValue) && (json as JsonObject)["status"] === "ok";
  } catch {
    return false;
  }
}
