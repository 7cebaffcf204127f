/** `sluice soak`: edits under traffic on one's own configuration, as a proof in a minute. */

import { errorMessage } from "@sluice/contract";
import { type Command, InvalidArgumentError } from "commander";
import { parseDuration } from "@sluice/kit";
import { CommandError, EXIT } from "../exit.ts";
import { endStart } from "../end-of-start.ts";
import { soakGoals } from "../soak/goals.ts";

interface Options {
  readonly config: string;
  readonly reloadEvery: number;
  readonly for: number;
  readonly rate: number;
  readonly json?: boolean;
}

/** Adds the options and the action to the command. */
export function addSoakOptions(command: Command): void {
  command
    .option("--reload-every <duration>", "time between two edits", durationOf, 1_000)
    .option("--for <duration>", "how long", durationOf, 60_000)
    .option("--rate <number>", "requests a second", rateOf, 50)
    .option("--json", "print the figures as JSON")
    .action(soak);
}

async function soak({
  config,
  reloadEvery,
  for: lengthMs,
  rate,
  json = false,
}: Options): Promise<void> {
  const [{ checkConfig }, { formatFinding }] = await Promise.all([
    import("@sluice/engine/check"),
    import("@sluice/engine/config"),
  ]);
  const { opened, snapshot, findings } = await checkConfig({
    path: config,
    cwd: process.cwd(),
    environment: process.env,
  });
  if (snapshot === undefined)
    throw new CommandError(EXIT.findings, findings.map(formatFinding).join("\n"));
  const reloads = Math.max(1, Math.round(lengthMs / reloadEvery));
  if (!json) {
    console.log(
      `${reloads} edits, one every ${reloadEvery} ms, under ${rate} requests a second; a fake upstream stands for the providers`,
    );
  }
  const { runSoak } = await import("../soak/run-soak.ts");
  endStart();
  const result = await runSoak({
    opened,
    snapshot,
    reloadEveryMs: reloadEvery,
    reloads,
    requestsPerSecond: rate,
    looks: 10,
    warmUp: 0.3,
  }).catch((error: unknown) => {
    throw new CommandError(EXIT.notStarted, errorMessage(error));
  });
  const goals = soakGoals(result);
  if (json) console.log(JSON.stringify({ ...result, goals }, null, 2));
  else {
    console.log(
      `${result.reloads} reloads, ${result.requests} requests, ${result.streams} of them streams`,
    );
    if (result.refused > 0)
      console.log(`${result.refused} were refused by limits or guardrails of the configuration`);
    for (const [fault, count] of Object.entries(result.faults))
      console.log(`${count} failed: ${fault}`);
    for (const { text } of goals) console.log(text);
  }
  if (goals.some(({ isMet }) => !isMet)) process.exitCode = EXIT.findings;
}

function durationOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 100)
    throw new InvalidArgumentError("It must be a duration of 100ms or more, such as 1s or 5m.");
  return ms;
}

function rateOf(text: string): number {
  const rate = Number(text);
  if (!Number.isInteger(rate) || rate < 1 || rate > 1_000)
    throw new InvalidArgumentError("It must be a whole number from 1 to 1000.");
  return rate;
}
