/**
 * `sluice doctor`: whether an installation can start and serve, or why it does not. It makes no
 * billed call and changes no setting.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkConfig } from "@sluice/engine/check";
import { type Finding, formatFinding } from "@sluice/engine/config";
import {
  type Check,
  checkConnections,
  checkDataFolder,
  checkMachine,
  checkMasterKey,
  checkProviders,
  checkState,
  checkStore,
  checkTls,
  formatCheck,
} from "@sluice/engine/doctor";
import { counted } from "../counted.ts";
import { EXIT } from "../exit.ts";
import { checkPorts } from "../ports.ts";

interface Options {
  readonly config: string;
  readonly online?: boolean;
  readonly json?: boolean;
}

/** Runs every check that can be run, and ends with 1 when one failed. */
export async function doctor({ config, online = false, json = false }: Options): Promise<void> {
  const checks = await examine(config, online);
  if (json) console.log(JSON.stringify(checks, null, 2));
  else {
    for (const check of checks) console.log(formatCheck(check));
    const count = (grade: Check["grade"]): number =>
      checks.filter((check) => check.grade === grade).length;
    console.log(
      `${count("ok")} ok, ${count("warn")} to look at, ${count("fail")} failed, ${count("skip")} not looked at`,
    );
  }
  if (checks.some(({ grade }) => grade === "fail")) process.exitCode = EXIT.findings;
}

/** What the configuration says where to look for: nothing is said while it has findings. */
const UNSEEN: readonly Check[] = [
  "data folder",
  "disk",
  "master key",
  "port",
  "admin port",
  "store",
  "shared state",
  "providers",
].map((name) => ({ name, grade: "skip", found: "the configuration has findings" }));

function faultOf(finding: Finding): Check {
  const found = formatFinding({ ...finding, fix: "" }).trimEnd();
  return { name: "configuration", grade: "fail", found, fix: finding.fix };
}

async function examine(config: string, isOnline: boolean): Promise<readonly Check[]> {
  const { opened, snapshot, definitions, findings } = await checkConfig({
    path: config,
    cwd: process.cwd(),
    environment: process.env,
  });
  const files = opened.documents;
  if (snapshot === undefined)
    return [...(await checkMachine(files)), ...findings.map(faultOf), ...UNSEEN];
  const { server, models, pipelines } = snapshot;
  const folder = checkDataFolder(server.dataDirectory);
  const { checks: ports, isRunning } = await checkPorts(server);
  const skipped = (name: string, found: string): Check => ({ name, grade: "skip", found });
  // Another user's files in the data folder, or a second process at one database, are what a doctor
  // must not leave behind.
  const isOwn = folder.every(({ name, grade }) => name !== "data folder" || grade === "ok");
  const store = isRunning
    ? [skipped("store", "the gateway that runs has it open")]
    : !existsSync(server.dataDirectory)
      ? [skipped("store", "nothing has run here yet: the first start makes it")]
      : isOwn
        ? await checkStore(snapshot, definitions)
        : [skipped("store", "the data folder belongs to another user")];
  return [
    ...(await checkMachine([
      ...files,
      join(server.dataDirectory, "outbox.db"),
      server.dataDirectory,
    ])),
    {
      name: "configuration",
      grade: "ok",
      found: `${counted(pipelines.length, "pipeline")}, ${counted(models.length, "model")}`,
    },
    ...folder,
    checkMasterKey(server, process.env),
    ...checkTls(server.tls, Date.now()),
    ...ports,
    ...store,
    ...(await checkConnections(snapshot, definitions, isRunning)),
    await checkState(snapshot, definitions),
    ...(await checkProviders(snapshot, definitions, isOnline)),
  ];
}
