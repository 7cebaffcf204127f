/** `sluice import litellm-database`: the records of a LiteLLM database, into the gateway. */

import { type Command, Option } from "commander";
import { errorMessage } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { CommandError, EXIT } from "../exit.ts";
import { TABLES, type TableName } from "../litellm-database/entries/entry.ts";
import type { DatabaseOutcome, TableCounts } from "../litellm-database/import-database.ts";
import type { DatabaseNote } from "../litellm-database/notes.ts";

interface Options extends AdminOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly acceptLoss?: string;
  readonly userBudgets?: string;
  readonly customersOf?: string;
}

/** Adds the command. `shared` adds the options that say where the gateway is. */
export function addImportDatabaseCommand(
  command: Command,
  shared: (command: Command) => Command,
): void {
  shared(
    command
      .command("litellm-database")
      .description(
        "organizations, teams, users, keys, budgets and customers of a LiteLLM database, into the running gateway: each key keeps its secret",
      )
      .argument("<files...>", "exports of LiteLLM's tables: CSV with a header, or JSON lines"),
  )
    .option("--dry-run", "change nothing; print what would be imported")
    .option(
      "--accept-loss <columns>",
      "columns, separated by commas, that bound a record and cannot be held, or name what is missing: import without them",
    )
    .addOption(
      new Option(
        "--user-budgets <rule>",
        "whether budgets of users count for their keys in teams; count where LiteLLM has apply_user_budget_to_team_keys",
      )
        .choices(["ignore", "count"])
        .default("ignore"),
    )
    .option(
      "--customers-of <organizations>",
      "organizations, separated by commas, whose customers the end users are; - is none (default: those of the keys)",
    )
    .action(runImport);
}

async function runImport(files: readonly string[], options: Options): Promise<void> {
  const { dryRun = false, json = false, acceptLoss = "", customersOf } = options;
  const { importDatabase, outcomeJson } = await import("../litellm-database/import-database.ts");
  const asked = {
    files,
    isDryRun: dryRun,
    accepted: namesOf(acceptLoss),
    nowMs: Date.now(),
    countsUserBudgets: options.userBudgets === "count",
    customerPlaces:
      customersOf === undefined
        ? undefined
        : namesOf(customersOf).map((name) => (name === "-" ? "" : name)),
  };
  const outcome = await importDatabase(asked, adminClient(options)).catch((error: unknown) => {
    if (error instanceof CommandError) throw error;
    throw new CommandError(EXIT.findings, errorMessage(error));
  });
  if (json) console.log(JSON.stringify({ dry_run: dryRun, ...outcomeJson(outcome) }, null, 2));
  else print(outcome, dryRun);
  if (TABLES.some((table) => outcome.counts[table].leftOut > 0)) process.exitCode = EXIT.findings;
}

function namesOf(list: string): readonly string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Rows that a line names; `--json` has more of them. */
const SHOWN_ROWS = 3;

function print({ counts, notes }: DatabaseOutcome, isDryRun: boolean): void {
  for (const note of notes) console.log(noteLine(note));
  for (const table of TABLES) {
    const line = countsLine(table, counts[table]);
    if (line !== undefined) console.log(line);
  }
  if (TABLES.some((table) => counts[table].blocked > 0))
    console.log(
      "Blocked ones had bounds that the gateway cannot hold: set other bounds and unblock them, or name the columns with --accept-loss at the first import.",
    );
  if (isDryRun) console.log("Nothing was changed (--dry-run).");
}

function noteLine({ kind, table, what, count, rows }: DatabaseNote): string {
  const named = rows.slice(0, SHOWN_ROWS).map(({ at, name }) => `${at} ${name}`);
  const more = count > named.length ? `, and ${count - named.length} more` : "";
  const subject = table === "export" ? "" : `${count} of ${wordOf(table)}: `;
  return `${kind}  ${subject}${printable(`${what} (${named.join(", ")}${more})`)}`;
}

/** Text of an export on one line, without what moves a terminal's cursor. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, "\uFFFD");
}

function countsLine(
  table: TableName,
  { added, unchanged, leftOut, blocked }: TableCounts,
): string | undefined {
  if (added + unchanged + leftOut === 0) return undefined;
  const isBlocked = blocked === 0 ? "" : ` (${blocked} of them blocked)`;
  return `${wordOf(table)}: ${added} added${isBlocked}, ${unchanged} unchanged, ${leftOut} left out`;
}

function wordOf(table: TableName): string {
  return table.replace("_", " ");
}
