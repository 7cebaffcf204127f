/** `sluice migrate`: changes the schema of the store before gateways of a new version start. */

import { errorMessage, type StoreSchema } from "@sluice/contract";
import type { Command } from "commander";
import { CommandError, EXIT } from "../exit.ts";

interface Options {
  readonly config: string;
  readonly plan?: boolean;
}

/** Adds the command. */
export function addMigrateCommand(
  program: Command,
  configOption: readonly [string, string, string],
): void {
  program
    .command("migrate")
    .description("change the schema of the store to the one of this version, while gateways serve")
    .option(...configOption)
    .option("--plan", "print what would change; changes nothing")
    .action(migrate);
}

async function migrate({ config, plan = false }: Options): Promise<void> {
  const { installationAt } = await import("./backup.ts");
  const { store, storeName } = await installationAt(config);
  try {
    if (plan || store.migrate === undefined) {
      const schema = await store.inspect?.();
      console.log(`${storeName}: ${sentenceOf(schema)}`);
      if (store.migrate === undefined && schema?.state === "older")
        console.log("The start of the gateway changes it. Make a backup first.");
      if (schema?.state === "newer") process.exitCode = EXIT.findings;
      return;
    }
    const ran = await store.migrate(new AbortController().signal);
    for (const name of ran) console.log(`${storeName}: migrated: ${name}`);
    if (ran.length === 0) console.log(`${storeName}: the schema is that of this version`);
  } catch (error) {
    throw new CommandError(EXIT.findings, `${storeName}: ${errorMessage(error)}`);
  }
}

function sentenceOf(schema: StoreSchema | undefined): string {
  const changes = schema?.changes.join(", ");
  switch (schema?.state) {
    case undefined:
      return "the store does not tell its schema";
    case "none":
      return "the schema does not exist yet";
    case "current":
      return "the schema is that of this version";
    case "older":
      return `the schema is older; pending: ${changes}`;
    case "newer":
      return `the schema was made by a newer version, with ${changes}: this one refuses it`;
  }
}
