/** `sluice ledger`: compares the sums of the store with its rows, and moves rows that were left. */

import { errorMessage, type SumDifference } from "@sluice/contract";
import type { Command } from "commander";
import { counted } from "../counted.ts";
import { CommandError, EXIT } from "../exit.ts";

const DAY_MS = 86_400_000;

interface Options {
  readonly config: string;
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
    .description("compare the sums of spend reports and budgets with the rows; changes nothing")
    .option(...configOption)
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

async function verify({ config, from, to, json = false }: Options): Promise<void> {
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
  if (json) {
    const differences = check.differences.map((one) => ({
      ...one,
      stored: String(one.stored),
      ofRows: String(one.ofRows),
    }));
    console.log(JSON.stringify({ ...check, differences }, null, 2));
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
  if (check.total > 0) process.exitCode = EXIT.findings;
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
