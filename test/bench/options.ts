/** The flags of the benchmark. */

import { parseArgs } from "node:util";

/** What `--help` prints. */
export const HELP = `npm run bench -- [flags]

  --quick               3 short rounds instead of 8; under a minute
  --only sluice,floor   these targets only
  --scenario "c=32"     only scenarios whose name contains this
  --against main~20     the gateway of this commit as well, beside this one; without --only, these two and the floor
  --rounds 8            how many rounds
  --warm 15             seconds of load for each server before a scenario, in turns; default 1.5
  --collect FILE        adds the rounds to those in FILE, and reports them together: a long run in parts
  --same-model          the upstream calls its model as the client does: nothing to restore
  --profile             Node targets run with --cpu-prof; prints where their time went

A run without --quick, --only, --scenario, --against, --warm, --same-model and --profile writes test/bench/results.md.`;

/** The flags, read. */
export interface BenchOptions {
  readonly only: readonly string[] | undefined;
  readonly scenario: string | undefined;
  /** The commit whose gateway is measured beside this one, as the caller names it. */
  readonly against: string | undefined;
  readonly rounds: number;
  readonly sliceMs: number;
  readonly warmMs: number;
  /** Where the rounds of several runs are collected. */
  readonly collect: string | undefined;
  readonly sameModel: boolean;
  readonly profile: boolean;
  /** Everything was measured as it should be: the results may be kept. */
  readonly isComplete: boolean;
  /** The command, for the report. */
  readonly command: string;
}

/** Reads the flags. Undefined when help was asked for. Throws a TypeError on an unknown flag. */
export function readOptions(): BenchOptions | undefined {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      scenario: { type: "string" },
      against: { type: "string" },
      rounds: { type: "string" },
      warm: { type: "string" },
      collect: { type: "string" },
      "same-model": { type: "boolean", default: false },
      profile: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const flags = process.argv.slice(2);
  return {
    only:
      values.only?.split(",") ?? (values.against === undefined ? undefined : ["floor", "sluice"]),
    scenario: values.scenario,
    against: values.against,
    rounds: Number(values.rounds ?? (values.quick ? 3 : 8)),
    sliceMs: values.quick ? 300 : 800,
    warmMs: Number(values.warm ?? (values.quick ? 0.6 : 1.5)) * 1000,
    collect: values.collect,
    sameModel: values["same-model"],
    profile: values.profile,
    isComplete: flags.every(
      (flag, index) => flag.startsWith("--rounds") || flags[index - 1] === "--rounds",
    ),
    command: ["npm run bench", ...(flags.length > 0 ? ["--", ...flags] : [])].join(" "),
  };
}
