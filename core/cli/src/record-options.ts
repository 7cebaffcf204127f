/** Options of the command line that say something of a key or a team, and the body they make. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** Options by the names that commander gives them. */
export type RecordOptions = Readonly<Record<string, unknown>>;

/** Adds the options that keys and teams share. */
export function withLimitOptions(command: Command): Command {
  return command
    .option("--alias <name>", "a name for people")
    .option(
      "--models <list>",
      "model ids, wildcards and access groups, separated by commas; none means every model",
      list,
    )
    .option("--max-budget <usd>", "US dollars", number)
    .option("--soft-budget <usd>", "US dollars from which on the log and a header warn", number)
    .option("--budget-duration <span>", "after which the budget begins anew: 30d, 1mo")
    .option("--rpm <count>", "requests a minute", number)
    .option("--tpm <count>", "tokens a minute", number)
    .option("--max-parallel-requests <count>", "requests at the same time", number)
    .addOption(understood("--rpm-limit <count>"))
    .addOption(understood("--tpm-limit <count>"))
    .addOption(understood("--max-parallel <count>"))
    .option("--tags <list>", "tags of every spend row, separated by commas", list)
    .option(
      "--allowed-tags <list>",
      "tags of other keys or with a budget that requests may name, separated by commas",
      list,
    )
    .option("--metadata <json>", "notes of your own, a JSON object", object)
    .option("--guardrails <list>", "names of guardrails, separated by commas", list)
    .option(
      "--passthrough",
      "every native path of the providers, not the inference endpoints alone; without --models only",
    );
}

/** Another word for a count, which the help does not list. */
function understood(flags: string): Option {
  return new Option(flags).argParser(number).hideHelp();
}

/** Adds the options that only keys have. */
export function withKeyOptions(command: Command): Command {
  return withLimitOptions(command)
    .option("--duration <span>", "how long the key lives: 12h, 30d, 1mo")
    .option("--expires <time>", "when the key ends: 2030-01-31T12:00:00Z")
    .option("--user <id>", "whose spend the key's is")
    .option("--team <id>", "the team it belongs to")
    .option("--spend-scope <scope>", "whose spend rows the key may read: key, user or team");
}

/** Adds `--clear`. */
export function withClear(command: Command): Command {
  return command.option(
    "--clear <fields>",
    "fields to empty, by their names in the API: max_budget,rpm",
    list,
  );
}

const FIELDS: Readonly<Record<string, string>> = {
  models: "models",
  maxBudget: "max_budget",
  softBudget: "soft_budget",
  budgetDuration: "budget_duration",
  rpm: "rpm",
  tpm: "tpm",
  maxParallelRequests: "max_parallel_requests",
  rpmLimit: "rpm",
  tpmLimit: "tpm",
  maxParallel: "max_parallel_requests",
  tags: "tags",
  allowedTags: "allowed_tags",
  metadata: "metadata",
  guardrails: "guardrails",
  passthrough: "passthrough",
  duration: "duration",
  expires: "expires",
  user: "user_id",
  team: "team_id",
  spendScope: "spend_scope",
};

/** The body that the options make: one field for each that was given. */
export function bodyOf(options: RecordOptions, aliasField: "key_alias" | "team_alias"): JsonObject {
  const body: Record<string, JsonValue> = {};
  for (const [option, field] of Object.entries({ ...FIELDS, alias: aliasField })) {
    const value = options[option];
    if (value !== undefined) body[field] = value as JsonValue;
  }
  for (const field of (options["clear"] as readonly string[] | undefined) ?? []) body[field] = null;
  return body;
}

function list(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function number(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError("It is no number.");
  return value;
}

function object(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("It is not valid JSON.");
  }
  if (!isObject(value)) throw new InvalidArgumentError("It is not a JSON object.");
  return value;
}
