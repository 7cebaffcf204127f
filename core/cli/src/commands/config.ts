/**
 * `sluice status`, `history`, `reload`, `rollback` and `restart`: the configuration of the running
 * gateway.
 */

import { userInfo } from "node:os";
import { Argument, type Command } from "commander";
import type { JsonObject } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { CommandError, EXIT } from "../exit.ts";
import { type CanaryOptions, canaryOf } from "../fleet/canary-options.ts";
import { type FleetOptions, rollOut, withRollout } from "../fleet/commands.ts";
import { addPull, addPush } from "../fleet/push-pull.ts";
import { addHistoryCommand, numberOf } from "./history.ts";
import { type Attempt, printAttempt } from "../print/attempt.ts";
import { printDeployments } from "../print/deployments.ts";
import { type Fleet, printFleet } from "../fleet/print.ts";
import { printStatus, type Status } from "../print/status.ts";

type Options = AdminOptions & { readonly json?: boolean };
type Asking = Options & { readonly author?: string };

type ReloadOptions = Asking &
  CanaryOptions &
  FleetOptions & { readonly force?: string; readonly fleet?: boolean };

interface RestartResult {
  readonly outcome: string;
  readonly replaced: number;
  readonly workers: number;
  readonly reasons: readonly string[];
}

/** Each new worker may take a while to be ready. */
const RESTART_TIMEOUT_MS = 300_000;
/** An edit is tested before it applies, by one worker first, and may wait for a restart to end. */
const EDIT_TIMEOUT_MS = 75_000;

const CANARY_ENDS = "promote: it serves all keys; abort: it serves none";

/** Adds the commands. `command` makes one with the options that say where the gateway is. */
export function addConfigCommands(command: (name: string, description: string) => Command): void {
  command("status", "what configuration runs, what was tried last, what still drains")
    .option("--fleet", "the instances that share the store, and what each of them runs")
    .action(async (options: Options & { readonly fleet?: boolean }) => {
      const ask = adminClient(options);
      const answer = await ask(options.fleet === true ? "/fleet" : "/config/status");
      if (options.json === true) console.log(JSON.stringify(answer, null, 2));
      else if (options.fleet === true) printFleet(answer as Fleet);
      else {
        printStatus(answer as Status);
        printDeployments(await ask("/deployments").catch(() => undefined));
      }
    });
  addHistoryCommand(command);
  const asking = (name: string, description: string): Command =>
    command(name, description).option(
      "--author <name>",
      "who asks, for the history and the log; default: your user name",
      userName(),
    );
  addReloadCommand(asking("reload", "read the files again and apply them"));
  addPush(withRollout(asking("push", "put a configuration into the store, for every instance")));
  addPull(command("pull", "write the files of the configuration in the store to a folder"));
  asking("canary", "end the canary that runs")
    .addArgument(new Argument("<end>", CANARY_ENDS).choices(["promote", "abort"]))
    .action(async (end: "promote" | "abort", options: Asking) => {
      await apply(options, `/config/canary/${end}`, {});
    });
  asking("rollback", "apply an older generation again; the files stay as they are")
    .argument("[generation]", "its number; without one the newest before what runs", numberOf)
    .action(async (generation: number | undefined, options: Asking) => {
      await apply(options, "/config/rollback", generation === undefined ? {} : { generation });
    });
  command(
    "restart",
    "replace the worker processes one by one: new code of plugins, cold settings; no request fails",
  ).action(restart);
}

function addReloadCommand(reload: Command): void {
  withRollout(reload)
    .option("--fleet", "at every instance that shares the store; each reads files of its own")
    .action(async (options: ReloadOptions) => {
      const { force, fleet = false, wait, author } = options;
      const body = { ...(force !== undefined && { force }), ...canaryOf(options) };
      if (fleet)
        await rollOut(options, "/fleet/reload", {
          ...body,
          ...(author !== undefined && { author }),
        });
      else if (wait !== undefined) throw new CommandError(EXIT.usage, "--wait belongs to --fleet.");
      else await apply(options, "/config/reload", body);
    });
}

async function restart(options: AdminOptions & { readonly json?: boolean }): Promise<void> {
  const result = (await adminClient(options, RESTART_TIMEOUT_MS)("/restart", {})) as RestartResult;
  if (options.json === true) console.log(JSON.stringify(result, null, 2));
  else {
    for (const line of result.reasons) console.log(line);
    console.log(`${result.outcome}: ${result.replaced} of ${result.workers} workers replaced`);
  }
  if (result.outcome !== "restarted") process.exitCode = EXIT.findings;
}

async function apply(options: Asking, path: string, body: JsonObject): Promise<void> {
  const { author } = options;
  const attempt = (await adminClient(options, EDIT_TIMEOUT_MS)(path, {
    ...body,
    ...(author !== undefined && { author }),
  })) as Attempt;
  if (options.json === true) console.log(JSON.stringify(attempt, null, 2));
  else printAttempt(attempt);
  if (attempt.outcome === "unchanged" && body["canary"] !== undefined && options.json !== true) {
    console.log("no canary began: the files are what runs, or what a canary tries already");
  }
  if (attempt.outcome === "refused") process.exitCode = EXIT.findings;
}

/** The user that runs the command; a container may have no name for it. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
