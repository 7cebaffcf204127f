/** The commands `backup`, `restore` and `upgrade`. They load their modules when they run. */

import type { Command } from "commander";

type Actions = typeof import("./backup.ts");

const load = (): Promise<Actions> => import("./backup.ts");

/** Adds the commands. */
export function addBackupCommands(
  program: Command,
  configOption: readonly [string, string, string],
): void {
  const command = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option(...configOption)
      .option("--json", "print the result as JSON");
  command(
    "backup <folder>",
    "copy store, outbox, secrets and generations, also while the gateway serves",
  )
    .option("--without-store", "leave out a store that has backups of its own")
    .action(async (...given: Parameters<Actions["backup"]>) => (await load()).backup(...given));
  command("restore <folder>", "put a backup in the place of a gateway that does not run")
    .option("--force", "put an installation that is there aside")
    .action(async (...given: Parameters<Actions["restore"]>) => (await load()).restore(...given));
  command("upgrade", "whether this version reads the configuration and the store; asks no network")
    .requiredOption("--check", "check, and change nothing")
    .action(async (...given: Parameters<Actions["upgrade"]>) => (await load()).upgrade(...given));
}
