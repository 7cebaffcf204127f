/**
 * The command line: `sluice <command>`. Exit codes: 0 done, 1 findings or a refusal, 2 usage, 3
 * could not start or found no gateway. A command loads its modules when it runs. All modules of the
 * gateway take half a second of CPU, and most commands need few of them.
 */

import { existsSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { addAuditCommands } from "./commands/audit.ts";
import { addBackupCommands } from "./commands/add-backup.ts";
import { addConfigCommands } from "./commands/config.ts";
import { addDeploymentCommands } from "./commands/deployments.ts";
import { addDiffCommand } from "./commands/diff.ts";
import { bareStart } from "./bare-start.ts";
import { defaultConfig } from "./default-config.ts";
import { CommandError, EXIT } from "./exit.ts";
import { addFleetCommands } from "./fleet/commands.ts";
import { addImportCommand } from "./commands/import.ts";
import { addImportDatabaseCommand } from "./commands/import-database.ts";
import { addInitCommand } from "./commands/init.ts";
import { addKeyCommands } from "./commands/keys.ts";
import { addLedgerCommands } from "./commands/ledger.ts";
import { addMigrateCommand } from "./commands/migrate.ts";
import { addNewCommand } from "./commands/new.ts";
import { addRequestCommands } from "./commands/requests.ts";
import { addSoakOptions } from "./commands/soak.ts";
import { addSpendCommand } from "./commands/spend.ts";
import { addTeamCommands } from "./commands/teams.ts";
import { addUiCommand } from "./dashboard/ui.ts";
import { addTenantCommands } from "./commands/tenants/commands.ts";
import { addMemberCommands } from "./commands/tenants/members.ts";
import { VERSION } from "@sluice/engine/version";

const program = new Command("sluice")
  .description("A configuration-driven plugin-pipeline gateway for model traffic.")
  .version(`sluice ${VERSION}`, "--version", "print the version")
  .exitOverride()
  .configureOutput({ writeErr: (text) => process.stderr.write(text) });

const configOption = [
  "--config <file>",
  "the gateway file; SLUICE_CONFIG names another default",
  defaultConfig(process.env, existsSync),
] as const;

program
  .command("serve")
  .description("start the gateway")
  .option(...configOption)
  .option(
    "--log-level <level>",
    "debug, info, warn, error or silent",
    process.env.SLUICE_LOG_LEVEL || "info",
  )
  .option("--last-good", "when the files have findings, start with the newest generation that ran")
  .option(
    "--supervised",
    "with one worker too, let a process supervise it: sluice restart works, and a crashed worker is restarted",
  )
  .action(async (...given: Parameters<typeof import("./commands/serve.ts").serve>) =>
    (await import("./commands/serve.ts")).serve(...given),
  );

program
  .command("check")
  .description("read the configuration and report every finding and every doubt; changes nothing")
  .option(...configOption)
  .option("--json", "print findings and warnings as a JSON array, with --coverage the table")
  .option(
    "--strict",
    "end with 1 for warnings and notes too, such as a provider whose variable is not set",
  )
  .option("--coverage", "print what protects each route")
  .option("--print", "print the effective configuration, secrets hidden")
  .option(
    "--plugin-timeout <duration>",
    "how long a plugin may run without a pause before the check ends with a finding",
    "10s",
  )
  .action(async (...given: Parameters<typeof import("./commands/check.ts").check>) =>
    (await import("./commands/check.ts")).check(...given),
  );

program
  .command("test")
  .description("run the tests of the pipelines; asks no upstream and keeps nothing")
  .argument("[file...]", "pipeline files whose tests are run; without one all of them")
  .option(...configOption)
  .option("--json", "print the results as JSON")
  .action(async (...given: Parameters<typeof import("./commands/test.ts").test>) =>
    (await import("./commands/test.ts")).test(...given),
  );

program
  .command("schema")
  .description("write the JSON Schemas for editors")
  .option(...configOption)
  .option("--out <folder>", "where to write them", "config/schema")
  .option("--check", "write nothing; report files that are not up to date")
  .action(async (...given: Parameters<typeof import("./commands/schema.ts").schema>) =>
    (await import("./commands/schema.ts")).schema(...given),
  );

addInitCommand(program.command("init"));
program
  .command("eject")
  .description("copy shipped pipelines to the folder of your own, to edit them")
  .argument("<name...>", "chat, models and others; an unknown name lists them")
  .option(...configOption)
  .action(async (...given: Parameters<typeof import("./commands/eject.ts").eject>) =>
    (await import("./commands/eject.ts")).eject(...given),
  );

addNewCommand(program.command("new"));

const atGateway = (command: Command): Command =>
  command
    .option(...configOption)
    .option(
      "--admin-url <url>",
      "the admin listener of the running gateway, when the configuration does not say it",
    )
    .option("--json", "print what the gateway answers, as JSON");

addKeyCommands(
  program.command("keys").description("virtual keys of the running gateway"),
  atGateway,
);
addDeploymentCommands(
  program.command("deployments").description("targets of the running gateway and their health"),
  atGateway,
);
addUiCommand(program.command("ui"), atGateway);
addAuditCommands(
  program.command("audit").description("what administrators of the running gateway did"),
  atGateway,
);
addConfigCommands((name, description) => atGateway(program.command(name)).description(description));
addFleetCommands(
  program.command("fleet").description("gateways that share the store of the running one"),
  atGateway,
);
addRequestCommands((name, description) =>
  atGateway(program.command(name)).description(description),
);
addSpendCommand((name, description) => atGateway(program.command(name)).description(description));
addLedgerCommands(program, configOption);
addMigrateCommand(program, configOption);
addDiffCommand((name, description) => atGateway(program.command(name)).description(description));
program
  .command("doctor")
  .description(
    "whether this installation can start and serve, or why not: machine, folders, ports, store, credentials",
  )
  .option(...configOption)
  .option("--online", "also ask providers for their lists of models, which costs nothing")
  .option("--json", "print the checks as JSON")
  .action(async (...given: Parameters<typeof import("./commands/doctor.ts").doctor>) =>
    (await import("./commands/doctor.ts")).doctor(...given),
  );

addSoakOptions(
  program
    .command("soak")
    .description(
      "edit your own configuration over and over under traffic, a fake upstream in place of the providers",
    )
    .option(...configOption),
);
const imports = program.command("import").description("configurations and keys of other gateways");
addImportCommand(imports);
addBackupCommands(program, configOption);
addImportDatabaseCommand(imports, atGateway);
addTeamCommands(program.command("teams").description("teams of the running gateway"), atGateway);
addMemberCommands(
  program.command("members").description("users in teams of the running gateway"),
  atGateway,
);
addTenantCommands(program, atGateway);

// A worker is started with the arguments of its supervisor: they say what was chosen.
if (process.argv.length === 2) process.argv.push(...(await bareStart(process.env)));

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommandError) {
    console.error(error.message);
    process.exitCode = error.exitCode;
  } else if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  } else {
    throw error;
  }
}
