/** Writes docs/environment.md from the table of variables: `node test/generate/environment.ts`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where the page is. */
export const ENVIRONMENT_PAGE = join(import.meta.dirname, "../../docs/environment.md");

/** What one variable does. */
interface Variable {
  readonly reader: string;
  readonly meaning: string;
  readonly otherwise: string;
}

const serve = "the gateway";
const commands = "every command";

/** The variables that an operator sets. */
export const VARIABLES: Readonly<Record<string, Variable>> = {
  SLUICE_CONFIG: {
    reader: commands,
    meaning: "The gateway file where `--config` names none.",
    otherwise: "`config/gateway.yaml`, else `gateway.yaml`",
  },
  SLUICE_MASTER_KEY: {
    reader: "the gateway, commands that ask it",
    meaning:
      "The [master key](administration.md#another-master-key), 24 characters or more without blanks. It wins over `master.key` of the data folder.",
    otherwise: "`SLUICE_MASTER_KEY_FILE`, else `master.key`; required beyond loopback",
  },
  SLUICE_MASTER_KEY_FILE: {
    reader: "the gateway, commands that ask it",
    meaning: "A file that holds the master key, for secrets that a platform mounts.",
    otherwise: "`SLUICE_MASTER_KEY`",
  },
  SLUICE_HOST: {
    reader: serve,
    meaning: "The address for clients. It wins over `server.host`.",
    otherwise: "`server.host`",
  },
  SLUICE_PORT: {
    reader: serve,
    meaning: "The port for clients, 0 for any free one. It wins over `server.port`.",
    otherwise: "`server.port`",
  },
  SLUICE_ADMIN_PORT: {
    reader: "the gateway, commands that ask it",
    meaning: "The port for administration, 0 for any free one. It wins over `server.admin.port`.",
    otherwise: "`server.admin.port`",
  },
  SLUICE_LOG_LEVEL: {
    reader: serve,
    meaning: "`debug`, `info`, `warn`, `error` or `silent`, where `--log-level` names none.",
    otherwise: "`info`",
  },
  SLUICE_FOREIGN_PEPPER: {
    reader: serve,
    meaning:
      "`accept` starts with a store whose keys were made under another pepper, without its keys.",
    otherwise: "such a start is refused",
  },
};

/** Variables that the processes of a gateway set for each other. Names in sources, not on the page. */
export const INTERNAL: readonly string[] = ["SLUICE_WORKER", "SLUICE_PARENT_FD", "SLUICE_SOAK_KEY"];

const INTRODUCTION = `# Environment variables

<!-- Made by \`node test/generate/environment.ts\`. Do not edit. -->

An empty variable counts as not set. The configuration reads further ones by reference, under names of your choice: \`\${env:OPENAI_API_KEY}\`.
The gateway reads variables at its start, and those of references at each reload.
`;

/** The text of docs/environment.md. */
export function environmentPage(): string {
  const rows = Object.entries(VARIABLES).map(([name, { reader, meaning, otherwise }]) => [
    `\`${name}\``,
    reader,
    meaning,
    otherwise,
  ]);
  const head = ["Variable", "Read by", "Meaning", "Without it"];
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return `${INTRODUCTION}\n${lines.join("\n")}\n`;
}

if (import.meta.main) writeFileSync(ENVIRONMENT_PAGE, environmentPage());
