/** `sluice ledger`: compares the sums of the store with its rows, and moves rows that were left. */

import { errorMessage, type SumDifference } from "@sluice/contract";
import type { Command } from "commander";
import type { AdminOptions } from "../admin-place.ts";
import { counted } from "../counted.ts";
import { CommandError, EXIT } from "../exit.ts";

const DAY_MS = 86_400_000;

interface Options extends AdminOptions {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

/** Adds the command. It reads the store's file, also while a gateway uses it. */
export function addLedgerCommands(
  program: Command,
  configOption: readonly [string, string, string],
): void {
  const ledger = program.command("ledger").description("the ledger of the store");
  ledger
    .command("verify")
    .description(
      "compare the sums of spend reports with the rows, and the budgets of the running gateway; changes nothing",
    )
    .option(...configOption)
    .option("--admin-url <url>", "the admin listener of the gateway whose budgets are compared")
    .option("--from <day>", "the first day, in UTC: 2030-01-31")
    .option("--to <day>", "the last day, in UTC")
    .option("--json", "print the result as JSON")
    .action(verify);
  ledger
    .command("recover")
    .description("move the rows that a gateway left in its data folder to the store of --config")
    .argument("<folder>", "the data folder of a gateway that does not run")
    .option(...configOption)
    .option("--json", "print the result as JSON")
    .action(async (folder: string, options: Options) => {
      const { recoverLeft } = await import("../backup/recover-left.ts");
      await recoverLeft(folder, options);
    });
}

async function verify(options: Options): Promise<void> {
  const { config, from, to, json = false } = options;
  const { installationAt } = await import("./backup.ts");
  const { store, storeName } = await installationAt(config);
  if (store.verifySums === undefined)
    throw new CommandError(EXIT.findings, `The store ${storeName} keeps no sums.`);
  const span = {
    ...(from !== undefined && { fromMs: dayOf(from, "--from") }),
    ...(to !== undefined && { toMs: dayOf(to, "--to") + DAY_MS }),
  };
  const check = await store
    .verifySums(span, new AbortController().signal)
    .catch((error: unknown) => {
      throw new CommandError(EXIT.findings, errorMessage(error));
    });
  const budgets = await budgetsOf(options);
  if (json) {
    const differences = check.differences.map((one) => ({
      ...one,
      stored: String(one.stored),
      ofRows: String(one.ofRows),
    }));
    console.log(JSON.stringify({ ...check, differences, budgets }, null, 2));
  } else {
    for (const difference of check.differences) console.log(lineOf(difference));
    console.log(
      check.total === 0
        ? `${counted(check.sums, "sum")} of ${counted(check.rows, "row")} are exact.`
        : `${counted(check.total, "amount")} of ${counted(check.sums, "sum")} differ from the rows (${counted(check.rows, "row")}).`,
    );
  }
  if (check.prunedBeforeMs !== undefined && !json)
    console.log(
      `Rows from before ${new Date(check.prunedBeforeMs).toISOString().slice(0, 10)} were deleted (ledger.keep): their sums are not compared.`,
    );
  if (!json) printBudgets(budgets);
  const isLacking =
    "differences" in budgets && budgets.differences.some(({ lacks_rows: lacks }) => lacks);
  if (check.total > 0 || isLacking) process.exitCode = EXIT.findings;
}

/** `GET /spend/budgets/verify`. */
interface BudgetsAnswer {
  readonly checked: number;
  readonly differences: readonly {
    readonly budget: string;
    readonly subject: string;
    readonly spent_nano_usd: number;
    readonly reserved_nano_usd: number;
    readonly rows_nano_usd: number;
    readonly lacks_rows: boolean;
  }[];
}

/** A gateway compares some seconds, longer with many budgets. */
const BUDGETS_MS = 70_000;

/** The budgets of the running gateway, or why they were not compared. */
async function budgetsOf(
  options: AdminOptions,
): Promise<BudgetsAnswer | { readonly reason: string }> {
  const { adminClient } = await import("../admin-client.ts");
  try {
    return (await adminClient(options, BUDGETS_MS)("/spend/budgets/verify")) as BudgetsAnswer;
  } catch (error) {
    return { reason: errorMessage(error) };
  }
}

function printBudgets(budgets: BudgetsAnswer | { readonly reason: string }): void {
  if ("reason" in budgets) {
    console.log(`Budgets were not compared: ${budgets.reason}`);
    return;
  }
  const { checked, differences } = budgets;
  for (const one of differences) {
    const what = one.lacks_rows
      ? "it lacks rows, so that more may be spent than its limit"
      : "it has more than its rows: reservations of a killed gateway count until its period ends";
    console.log(
      `${one.budget} (${one.subject}): the counter has ${one.spent_nano_usd} and ${one.reserved_nano_usd} reserved, the rows ${one.rows_nano_usd}: ${what}`,
    );
  }
  console.log(
    `${counted(checked - differences.length, "budget")} of ${checked} that this gateway has used agree with the rows.`,
  );
}

function lineOf({ sums, startMs, ids, amount, stored, ofRows }: SumDifference): string {
  const of = ids.map((id) => (id === "" ? "(none)" : id)).join(" ");
  return `${sums} ${new Date(startMs).toISOString()} ${of}: ${amount} is ${stored}, the rows have ${ofRows}`;
}

function dayOf(text: string, option: string): number {
  const atMs = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(atMs) || !new Date(atMs).toISOString().startsWith(text))
    throw new CommandError(EXIT.usage, `${option} must be a day such as 2030-01-31.`);
  return atMs;
}
