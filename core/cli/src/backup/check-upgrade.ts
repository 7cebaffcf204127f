/** Whether the installed version reads what another one wrote. */

import { errorReason } from "@sluice/contract";
import { existsSync } from "node:fs";
import { checkConfig } from "@sluice/engine/check";
import { type Finding, formatFinding, type Snapshot } from "@sluice/engine/config";
import type { Definitions } from "@sluice/engine/check";
import { outboxFault, readRunning } from "@sluice/engine/installation";
import { systemClock } from "@sluice/engine/telemetry";
import { VERSION } from "@sluice/engine/version";
import { counted } from "../counted.ts";
import type { Check } from "@sluice/engine/doctor";

/** The checks. Changes nothing, and starts no store. */
export async function checkUpgrade(config: string): Promise<readonly Check[]> {
  const { snapshot, definitions, findings } = await checkConfig({
    path: config,
    cwd: process.cwd(),
    environment: process.env,
  });
  if (snapshot === undefined) return [installed(), ...findings.map(faultOf)];
  const { models, pipelines, server, notices } = snapshot;
  const found = `${counted(pipelines.length, "pipeline")}, ${counted(models.length, "model")}`;
  return [
    installed(),
    running(server.dataDirectory),
    { name: "configuration", grade: "ok", found },
    ...notices.map((notice): Check => ({ name: "configuration", grade: "warn", found: notice })),
    await storeCheck(snapshot, definitions),
    outbox(server.dataDirectory),
  ];
}

function installed(): Check {
  return { name: "installed", grade: "ok", found: `sluice ${VERSION}, Node ${process.version}` };
}

function running(dataDirectory: string): Check {
  const name = "running";
  const gateway = readRunning(dataDirectory);
  if (gateway === undefined) return { name, grade: "ok", found: "no gateway runs here" };
  const found = `sluice ${gateway.version}, pid ${gateway.pid}`;
  if (gateway.version === VERSION) return { name, grade: "ok", found };
  const fix = "sluice restart replaces the workers; a stop and a start replaces the supervisor.";
  return { name, grade: "warn", found: `${found}: another version than the installed one`, fix };
}

function faultOf(finding: Finding): Check {
  const found = formatFinding({ ...finding, fix: "" }).trimEnd();
  return { name: "configuration", grade: "fail", found, fix: finding.fix };
}

async function storeCheck(
  { store: { use, options }, server: { dataDirectory } }: Snapshot,
  definitions: Definitions,
): Promise<Check> {
  const name = "store";
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const host = { log, clock: systemClock, dataDirectory };
  try {
    const schema = await definitions.stores
      .get(use)
      ?.create(options as never, host)
      .inspect?.();
    const changes = schema?.changes.join(", ") ?? "";
    switch (schema?.state) {
      case undefined:
        return { name, grade: "skip", found: `${use} does not tell its schema` };
      case "none":
        return { name, grade: "ok", found: `${use}: the first start makes it` };
      case "current":
        return { name, grade: "ok", found: `${use}: its schema is that of this version` };
      case "older": {
        const fix =
          "Make a backup first: the version before does not read the store after the start.";
        return {
          name,
          grade: "warn",
          found: `${use}: the start changes its schema: ${changes}`,
          fix,
        };
      }
      case "newer": {
        const fix =
          "Install the newer version again, or restore a backup from before its first start.";
        const found = `${use} was written by a newer version, with ${changes}: this one refuses it`;
        return { name, grade: "fail", found, fix };
      }
    }
  } catch (error) {
    const fix = "Correct `store` in gateway.yaml, or what it names.";
    return { name, grade: "fail", found: `${use}: ${errorReason(error)}`, fix };
  }
}

function outbox(dataDirectory: string): Check {
  const name = "outbox";
  if (!existsSync(dataDirectory)) return { name, grade: "ok", found: "there is none" };
  const fault = outboxFault(dataDirectory);
  if (fault === undefined) return { name, grade: "ok", found: "this version reads its files" };
  const fix = "Start the version that wrote it, until the store has its rows.";
  return { name, grade: "fail", found: fault, fix };
}
