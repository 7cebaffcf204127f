/** `sluice fleet`, and the parts of other commands that are about all instances. */

import type { JsonObject } from "@sluice/contract";
import { parseDuration } from "@sluice/kit";
import type { Command } from "commander";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { CommandError, EXIT } from "../exit.ts";
import { withCanary } from "./canary-options.ts";
import { converge } from "./converge.ts";
import { type Attempt, printAttempt } from "../print/attempt.ts";

type Options = AdminOptions & { readonly json?: boolean };

/** Options of a command that reaches all instances. */
export interface FleetOptions extends Options {
  /** Without a value: for the default time. */
  readonly wait?: string | true;
}

/** An edit of one instance that the others follow. */
export type FleetAttempt = Attempt & { readonly rollout: number | null };

const DEFAULT_WAIT = "2m";
/** The edit is tested before it applies. */
const EDIT_TIMEOUT_MS = 75_000;

/** Adds the commands. `atGateway` adds the options that say where the gateway is. */
export function addFleetCommands(fleet: Command, atGateway: (command: Command) => Command): void {
  atGateway(fleet.command("forget"))
    .description("delete the report of an instance that is gone and does not come back")
    .argument("<id>", "as sluice status --fleet shows it")
    .action(async (instance: string, options: Options) => {
      const answer = await adminClient(options)("/fleet/forget", { instance });
      console.log(
        options.json === true ? JSON.stringify(answer, null, 2) : `forgotten: ${instance}`,
      );
    });
}

/** Adds the options of a command that begins a rollout. */
export function withRollout(command: Command): Command {
  return withCanary(command)
    .option("--force <digest>", "apply what the shrink guard refused; the finding says the digest")
    .option(
      "--wait [duration]",
      "until all instances run it, or it says which do not and why; default 2m",
    );
}

/**
 * Begins a rollout, and waits for it where `--wait` is given. `linesOf` is what is printed before
 * the result.
 */
export async function rollOut<Answer extends FleetAttempt>(
  options: FleetOptions,
  path: string,
  body: JsonObject,
  linesOf: (attempt: Answer) => readonly string[] = () => [],
): Promise<Answer> {
  const { wait = false, json = false } = options;
  const waitText = typeof wait === "string" ? wait : DEFAULT_WAIT;
  const waitMs = parseDuration(waitText);
  if (waitMs === undefined)
    throw new CommandError(EXIT.usage, `--wait ${waitText} is no time: write one such as 2m.`);
  const asked = { ...body, wait: waitText };
  const attempt = (await adminClient(options, EDIT_TIMEOUT_MS)(path, asked)) as Answer;
  if (!json) {
    for (const line of linesOf(attempt)) console.log(line);
    printAttempt(attempt);
  }
  const { rollout } = attempt;
  if (attempt.outcome === "refused") process.exitCode = EXIT.findings;
  const found =
    wait === false || rollout === null
      ? undefined
      : await converge(adminClient(options), rollout, waitMs);
  if (found?.isConverged === false) process.exitCode = EXIT.findings;
  if (json) {
    const fleet = found && { converged: found.isConverged, instances: found.lines };
    console.log(JSON.stringify({ ...attempt, ...(fleet && { fleet }) }, null, 2));
  } else for (const line of found?.lines ?? []) console.log(line);
  return attempt;
}
