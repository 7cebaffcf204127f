/** `sluice import litellm-database`: keys and teams of a LiteLLM database, into the gateway. */

import type { Command } from "commander";
import { errorMessage } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { counted } from "../counted.ts";
import { CommandError, EXIT } from "../exit.ts";
import type { DatabaseOutcome, TableCounts } from "../litellm-database/import-database.ts";

interface Options extends AdminOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly acceptLoss?: string;
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
        "keys and teams of a LiteLLM database, into the running gateway: each key keeps its secret",
      )
      .argument(
        "<files...>",
        "exports of LiteLLM_TeamTable and LiteLLM_VerificationToken: CSV or JSON lines",
      ),
  )
    .option("--dry-run", "change nothing; print what would be imported")
    .option(
      "--accept-loss <columns>",
      "columns, separated by commas, that bound a key or team and cannot be held: import it unblocked",
    )
    .action(runImport);
}

async function runImport(files: readonly string[], options: Options): Promise<void> {
  const { dryRun = false, json = false, acceptLoss = "" } = options;
  const { importDatabase, outcomeJson } = await import("../litellm-database/import-database.ts");
  const asked = {
    files,
    isDryRun: dryRun,
    accepted: acceptLoss.split(",").map((column) => column.trim()),
    nowMs: Date.now(),
  };
  const outcome = await importDatabase(asked, adminClient(options)).catch((error: unknown) => {
    if (error instanceof CommandError) throw error;
    throw new CommandError(EXIT.findings, `${files.join(", ")}: ${errorMessage(error)}`);
  });
  if (json) console.log(JSON.stringify({ dry_run: dryRun, ...outcomeJson(outcome) }, null, 2));
  else print(outcome, dryRun);
  if (outcome.keys.leftOut + outcome.teams.leftOut > 0) process.exitCode = EXIT.findings;
}

function print({ keys, teams, notes }: DatabaseOutcome, isDryRun: boolean): void {
  for (const { at, kind, what } of notes) console.log(`${at}  ${kind}  ${what}`);
  console.log(`${line("team", teams)}; ${line("key", keys)}`);
  if (keys.blocked + teams.blocked > 0)
    console.log(
      "Blocked ones had bounds that the gateway cannot hold: unblock each with sluice keys unblock or sluice teams unblock, or name the columns with --accept-loss at the first import.",
    );
  if (isDryRun) console.log("Nothing was changed (--dry-run).");
}

function line(what: string, { added, unchanged, leftOut, blocked }: TableCounts): string {
  const isBlocked = blocked === 0 ? "" : ` (${blocked} of them blocked)`;
  return `${counted(added, what)} added${isBlocked}, ${unchanged} unchanged, ${leftOut} left out`;
}
