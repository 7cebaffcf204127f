/**
 * `sluice deployments`: how the targets of the running gateway are, and `sluice deployments reset`.
 */

import type { Command } from "commander";
import { isObject } from "@sluice/kit";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { printTable } from "../print/records.ts";

type Options = AdminOptions & { readonly json?: boolean };

/** Adds the commands. `shared` adds the options that say where the gateway is. */
export function addDeploymentCommands(
  deployments: Command,
  shared: (command: Command) => Command,
): void {
  shared(deployments.command("list", { isDefault: true }))
    .description("list every target with its health, load and counts")
    .action(list);
  shared(deployments.command("reset <id>"))
    .description("make a target healthy again in all workers: provider/model, as the list shows it")
    .action(async (id: string, options: Options) => {
      const answer = await adminClient(options)(`/deployments/${encodeURIComponent(id)}/reset`, {});
      if (options.json === true) console.log(JSON.stringify(answer, null, 2));
      else console.log(`${id} is healthy again: the next request goes to it.`);
    });
}

async function list(options: Options): Promise<void> {
  const answer = (await adminClient(options)("/deployments")) as {
    readonly deployments: readonly JsonObject[];
  };
  if (options.json === true) {
    console.log(JSON.stringify(answer, null, 2));
    return;
  }
  printTable(COLUMNS, answer.deployments);
  for (const {
    deployment,
    ejected_models: models,
    credential_refused: isRefused,
  } of answer.deployments) {
    if (isRefused === true)
      console.log(`${String(deployment)}: the provider refuses the credential`);
    for (const { model, operation, ejected_until: until } of models as readonly JsonObject[]) {
      console.log(
        `${String(deployment)}: ${String(operation)} of ${String(model)} is ejected until ${String(until)}`,
      );
    }
  }
}

const COLUMNS = {
  DEPLOYMENT: (row: JsonObject) => row["deployment"],
  HEALTH: (row: JsonObject) => row["health"],
  "EJECTED UNTIL": (row: JsonObject) => row["ejected_until"],
  "IN FLIGHT": (row: JsonObject) => row["in_flight"],
  QUEUED: (row: JsonObject) => row["queued"],
  "TOKENS RESERVED": (row: JsonObject) => tokensOf(row, "reserved"),
  "TOKENS SPENT": (row: JsonObject) => tokensOf(row, "spent"),
  "LATENCY MS": (row: JsonObject) => row["latency_ms"],
  ATTEMPTS: (row: JsonObject) => countOf(row, "total"),
  FAILED: (row: JsonObject) => countOf(row, "failure"),
};

function tokensOf({ tokens }: JsonObject, name: string): JsonValue | undefined {
  return isObject(tokens) ? tokens[name] : undefined;
}

function countOf({ attempts }: JsonObject, name: string): JsonValue | undefined {
  return (attempts as JsonObject)[name];
}
