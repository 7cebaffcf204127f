/**
 * `sluice requests`: the newest requests of the running gateway; `sluice explain`: what happened to
 * one.
 */

import type { Command } from "commander";
import { isObject } from "@sluice/kit";
import type { JsonObject } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { printRecord, printTable } from "../print/records.ts";

type Options = AdminOptions & { readonly json?: boolean };
type ListOptions = Options &
  Readonly<Record<"status" | "model" | "key" | "since" | "limit" | "cursor", string | undefined>>;

const FILTERS = ["status", "model", "key", "since", "limit", "cursor"] as const;

/** Adds the commands. `command` makes one with the options that say where the gateway is. */
export function addRequestCommands(command: (name: string, description: string) => Command): void {
  command("requests", "the newest requests, from the ledger and from memory, newest first")
    .option("--status <status>", "failed, ok, an HTTP status or an error code")
    .option("--model <id>", "those that asked for the model")
    .option("--key <key>", "those of a key, by its id or alias")
    .option("--since <when>", "30m, 1h, 7d, or a time: 2030-01-31T12:00:00Z")
    .option("--limit <count>", "how many, 100 at most", "20")
    .option("--cursor <text>", "the next page, as the page before says it")
    .action(list);
  command("explain", "what happened to one request: steps, decisions and upstream calls")
    .argument("<id>", "the x-request-id of its reply, or the id of its completion")
    .action(explain);
}

async function list(options: ListOptions): Promise<void> {
  const query = new URLSearchParams();
  for (const name of FILTERS) if (options[name] !== undefined) query.set(name, options[name]);
  const answer = (await adminClient(options)(`/requests?${query}`)) as {
    readonly requests: readonly JsonObject[];
    readonly next_cursor: string | null;
  };
  if (options.json === true) {
    console.log(JSON.stringify(answer, null, 2));
    return;
  }
  printTable(COLUMNS, answer.requests);
  if (answer.next_cursor !== null) console.log(`More: --cursor ${answer.next_cursor}`);
}

const COLUMNS = {
  REQUEST: (row: JsonObject) => row["request_id"],
  STARTED: (row: JsonObject) => row["started_at"],
  STATUS: (row: JsonObject) => row["status"],
  ERROR: (row: JsonObject) => row["error"],
  MODEL: (row: JsonObject) => row["model"],
  DEPLOYMENT: (row: JsonObject) => row["deployment"],
  KEY: (row: JsonObject) =>
    isObject(row["key"]) ? (row["key"]["alias"] ?? row["key"]["id"]) : null,
  ATTEMPTS: (row: JsonObject) => row["attempts"],
  MS: (row: JsonObject) => row["total_ms"],
};

async function explain(id: string, options: Options): Promise<void> {
  const answer = (await adminClient(options)(`/requests/${encodeURIComponent(id)}`)) as JsonObject;
  if (options.json === true) {
    console.log(JSON.stringify(answer, null, 2));
    return;
  }
  const { steps, attempts, key, ...rest } = answer;
  printRecord({ ...rest, key: isObject(key) ? (key["alias"] ?? key["id"] ?? null) : null });
  if (Array.isArray(steps)) {
    console.log("");
    printTable(STEPS, steps.filter(isObject) as readonly JsonObject[]);
  } else console.log("\nThe steps are not known any more: the ledger keeps the upstream calls.");
  if (!Array.isArray(attempts) || attempts.length === 0) return;
  console.log("");
  printTable(ATTEMPTS, attempts.filter(isObject) as readonly JsonObject[]);
}

const STEPS = {
  STEP: (row: JsonObject) => row["step"],
  AT: (row: JsonObject) => row["at"],
  OUTCOME: (row: JsonObject) => row["outcome"],
  ERROR: (row: JsonObject) => row["error"],
  MS: (row: JsonObject) => row["ms"],
  WHEN: (row: JsonObject) => (isObject(row["when"]) ? conditionOf(row["when"]) : null),
  DECISIONS: (row: JsonObject) => row["decisions"],
};

/** `team: support, sales; header.x-plan: gold`. */
function conditionOf(when: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(when).flatMap(([name, values]): [string, unknown][] =>
    isObject(values)
      ? Object.entries(values).map(([header, taken]) => [`${name}.${header}`, taken])
      : [[name, values]],
  );
  return members
    .map(
      ([name, values]) => `${name}: ${Array.isArray(values) ? values.join(", ") : String(values)}`,
    )
    .join("; ");
}

const ATTEMPTS = {
  ATTEMPT: (row: JsonObject) => row["attempt"],
  DEPLOYMENT: (row: JsonObject) => row["deployment"],
  OUTCOME: (row: JsonObject) => row["outcome"],
  STATUS: (row: JsonObject) => row["status"],
  ERROR: (row: JsonObject) => row["error"],
  "START MS": (row: JsonObject) => row["start_ms"],
  "END MS": (row: JsonObject) => row["end_ms"],
  TOKENS: (row: JsonObject) => row["total_tokens"],
  COST: (row: JsonObject) => row["cost"],
  "UPSTREAM ID": (row: JsonObject) => row["upstream_request_id"],
};
