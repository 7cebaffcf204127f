/** Options of the command line that say something of a key or a team, and the body they make. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";

/** Options by the names that commander gives them. */
export type RecordOptions = Readonly<Record<string, unknown>>;

/** Adds the options of amounts and of a budget's period. */
function withAmountOptions(command: Command): Command {
  return command
    .option("--max-budget <usd>", "US dollars", number)
    .option("--soft-budget <usd>", "US dollars from which on the log and a header warn", number)
    .option("--budget-duration <span>", "after which the budget begins anew: 30d, 1mo")
    .option("--budget-anchor <anchor>", "where its periods begin: calendar or creation")
    .option("--rpm <count>", "requests a minute", number)
    .option("--tpm <count>", "tokens a minute", number)
    .option("--max-parallel-requests <count>", "requests at the same time", number)
    .option("--per-model <json>", 'the same limits by model: {"gpt-4o": {"rpm": 5}}', object)
    .addOption(understood("--rpm-limit <count>"))
    .addOption(understood("--tpm-limit <count>"))
    .addOption(understood("--max-parallel <count>"));
}

/** Adds the options that keys, teams and other tenants share. */
export function withLimitOptions(command: Command): Command {
  return withAmountOptions(
    command
      .option("--alias <name>", "a name for people")
      .option(
        "--models <list>",
        "model ids, wildcards and access groups, separated by commas; none means every model",
        list,
      ),
  )
    .option("--budget <id>", "the name of a budget whose limits hold besides these")
    .option("--budget-share <share>", "each for limits of its own, pool for those of all")
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

/** Adds the options that teams have besides: their organization, and the end of their life. */
export function withTeamOptions(command: Command): Command {
  return withLife(withLimitOptions(command))
    .option("--organization <id>", "the organization it belongs to")
    .addOption(modelAliases())
    .option("--user-budgets <rule>", "count or ignore: whether budgets of users hold in it")
    .option("--member-defaults <json>", "limits of members without their own", object)
    .option("--self-service <json>", "what members may make for themselves", object);
}

/** Adds the options of a tenant: the whole block, or amounts alone. */
export function withBlockOptions(command: Command, isBlock: boolean): Command {
  return isBlock ? withLife(withLimitOptions(command)) : withAmountOptions(command);
}

function withLife(command: Command): Command {
  return command
    .option("--duration <span>", "how long it lives: 12h, 30d, 1mo")
    .option("--expires <time>", "when it ends: 2030-01-31T12:00:00Z");
}

function modelAliases(): Option {
  const example = 'names for models: {"fast": "gpt-4o-mini"}';
  return new Option("--model-aliases <json>", example).argParser(object);
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
    .option("--organization <id>", "the organization of a key without a team")
    .option("--customer <id>", "the customer whose requests it makes")
    .addOption(modelAliases())
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
  organization: "organization_id",
  customer: "customer_id",
  budgetAnchor: "budget_anchor",
  perModel: "per_model",
  budget: "budget_id",
  budgetShare: "budget_share",
  modelAliases: "model_aliases",
  userBudgets: "user_budgets",
  memberDefaults: "member_defaults",
  selfService: "self_service",
};

/** The body that the options make: one field for each that was given. */
export function bodyOf(options: RecordOptions, aliasField: string): JsonObject {
  const body: Record<string, JsonValue> = {};
  for (const [option, field] of Object.entries({ ...FIELDS, alias: aliasField })) {
    const value = options[option];
    if (value !== undefined) body[field] = value as JsonValue;
  }
  for (const field of (options["clear"] as readonly string[] | undefined) ?? []) body[field] = null;
  return body;
}

/** Names separated by commas. */
export function list(text: string): readonly string[] {
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
    value = parseJson(text);
  } catch {
    throw new InvalidArgumentError("It is not valid JSON.");
  }
  if (!isObject(value)) throw new InvalidArgumentError("It is not a JSON object.");
  return value;
}
