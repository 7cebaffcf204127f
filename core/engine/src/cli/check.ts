/** `sluice check`: every finding and every doubt of the configuration, one a line. */

import { parseDuration } from "@sluice/kit";
import { checkConfig, withPlugins } from "../check-config.ts";
import { type Finding, formatFinding } from "../config/finding.ts";
import { coverageOf } from "../lint/coverage.ts";
import { lintsOf } from "../lint/lint.ts";
import { watchStart } from "../telemetry/start-watch.ts";
import { coverageRecords, printCoverage } from "./coverage.ts";
import { CommandError, EXIT } from "./exit.ts";

/** Options of the command. */
export interface CheckOptions {
  readonly config: string;
  readonly json?: boolean;
  readonly print?: boolean;
  readonly coverage?: boolean;
  /** How long a plugin may run without a pause. */
  readonly pluginTimeout: string;
}

export async function check(options: CheckOptions): Promise<void> {
  const { config, json = false, print = false, coverage = false, pluginTimeout } = options;
  const heldMs = parseDuration(pluginTimeout) ?? 0;
  if (heldMs === 0) throw new CommandError(EXIT.usage, `--plugin-timeout ${pluginTimeout} is no duration; write 10s.`);
  const endWatch = watchStart({ kind: "end", json }, heldMs);
  const read = await checkConfig({ path: config, cwd: process.cwd(), environment: process.env });
  // Plugins find some faults only when they are made, and guardrails when they judge.
  const { snapshot, findings, definitions } = await withPlugins(read);
  await endWatch();
  const lints = snapshot === undefined ? [] : lintsOf(snapshot, definitions);
  if (snapshot === undefined) process.exitCode = EXIT.findings;
  if (coverage && snapshot !== undefined) {
    const routes = coverageOf({ snapshot, definitions });
    if (json) console.log(JSON.stringify(coverageRecords(routes), null, 2));
    else printCoverage(routes);
    return;
  }
  if (json) {
    const plain = ({ at, message, fix }: Finding) => ({ ...at, message, fix });
    const errors = findings.map((finding) => ({ ...plain(finding), severity: "error", rule: null }));
    const warnings = lints.map((lint) => ({ ...plain(lint), severity: "warning", rule: lint.rule }));
    console.log(JSON.stringify([...errors, ...warnings], null, 2));
  } else {
    for (const finding of findings) console.log(formatFinding(finding));
    for (const lint of lints) {
      console.log(formatFinding({ ...lint, message: `warning: ${lint.message}`, fix: `${lint.fix} (${lint.rule})` }));
    }
  }
  if (snapshot === undefined) return;
  if (print) console.log(JSON.stringify({ ...snapshot, prices: undefined }, null, 2));
  if (json || print) return;
  for (const notice of snapshot.notices) console.log(`note: ${notice}`);
  const { pipelines, models, providers } = snapshot;
  const routes = pipelines.reduce((sum, pipeline) => sum + pipeline.routes.length, 0);
  console.log(`ok: ${pipelines.length} pipelines, ${routes} routes, ${models.length} models, ${providers.length} providers`);
}
