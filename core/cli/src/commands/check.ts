/** `sluice check`: every finding and every doubt of the configuration, one a line. */

import { parseDuration } from "@sluice/kit";
import {
  checkConfig,
  coverageOf,
  describeCoverage,
  lintsOf,
  withPlugins,
} from "@sluice/engine/check";
import {
  type Finding,
  formatFinding,
  namesOutsideFiles,
  type Snapshot,
  unknownNames,
} from "@sluice/engine/config";
import { watchStart } from "@sluice/engine/telemetry";
import { counted } from "../counted.ts";
import { printCoverage } from "./coverage.ts";
import { CommandError, EXIT } from "../exit.ts";
import { OWN_URLS } from "../own-urls.ts";
import { runningNames } from "../running-names.ts";

/** Options of the command. */
export interface CheckOptions {
  readonly config: string;
  readonly json?: boolean;
  readonly print?: boolean;
  readonly coverage?: boolean;
  /** Warnings, and notes of providers without their credentials, end with 1 too. */
  readonly strict?: boolean;
  /** How long a plugin may run without a pause. */
  readonly pluginTimeout: string;
}

export async function check(options: CheckOptions): Promise<void> {
  const {
    config,
    json = false,
    print = false,
    coverage = false,
    strict = false,
    pluginTimeout,
  } = options;
  const heldMs = parseDuration(pluginTimeout) ?? 0;
  if (heldMs === 0)
    throw new CommandError(
      EXIT.usage,
      `--plugin-timeout ${pluginTimeout} is no duration; write 10s.`,
    );
  const endWatch = watchStart({ kind: "end", json }, OWN_URLS, heldMs);
  const read = await checkConfig({ path: config, cwd: process.cwd(), environment: process.env });
  // Plugins find some faults only when they are made, and guardrails when they judge.
  const { snapshot, findings, definitions } = await withPlugins(read);
  await endWatch();
  const names = snapshot === undefined ? NO_NAMES : await namesOf(snapshot, config);
  const lints =
    snapshot === undefined ? [] : [...lintsOf(snapshot, definitions), ...names.warnings];
  if (snapshot === undefined) process.exitCode = EXIT.findings;
  else if (strict && lints.length + snapshot.notices.length > 0) process.exitCode = EXIT.findings;
  if (coverage && snapshot !== undefined) {
    const routes = coverageOf({
      snapshot,
      definitions,
      unknown: names.warnings.map(({ at }) => at),
    });
    if (json) console.log(JSON.stringify(routes.map(describeCoverage), null, 2));
    else printCoverage(routes);
    return;
  }
  printFindings(findings, lints, json);
  if (snapshot === undefined) return;
  if (print) console.log(JSON.stringify({ ...snapshot, prices: undefined }, null, 2));
  if (json || print) return;
  for (const notice of [...snapshot.notices, ...names.notes]) console.log(`note: ${notice}`);
  printCounts(snapshot);
}

type Warning = Finding & { readonly rule: string };

function printFindings(
  findings: readonly Finding[],
  lints: readonly Warning[],
  json: boolean,
): void {
  if (json) {
    const plain = ({ at, message, fix }: Finding) => ({ ...at, message, fix });
    console.log(
      JSON.stringify(
        [
          ...findings.map((finding) => ({ ...plain(finding), severity: "error", rule: null })),
          ...lints.map((lint) => ({ ...plain(lint), severity: "warning", rule: lint.rule })),
        ],
        null,
        2,
      ),
    );
    return;
  }
  for (const finding of findings) console.log(formatFinding(finding));
  for (const lint of lints) {
    const message = `warning: ${lint.message}`;
    console.log(formatFinding({ ...lint, message, fix: `${lint.fix} (${lint.rule})` }));
  }
}

function printCounts({ pipelines, models, providers }: Snapshot): void {
  const routes = pipelines.reduce((sum, pipeline) => sum + pipeline.routes.length, 0);
  const counts = [
    counted(pipelines.length, "pipeline"),
    counted(routes, "route"),
    counted(models.length, "model"),
    counted(providers.length, "provider"),
  ];
  console.log(`ok: ${counts.join(", ")}`);
}

interface Names {
  readonly warnings: readonly (Finding & { readonly rule: string })[];
  readonly notes: readonly string[];
}

const NO_NAMES: Names = { warnings: [], notes: [] };

/**
 * Teams and keys that keys or conditions name and the files do not have: the gateway that runs here
 * is asked for them.
 */
async function namesOf(snapshot: Snapshot, config: string): Promise<Names> {
  const outside = namesOutsideFiles(snapshot);
  if (outside.length === 0) return NO_NAMES;
  try {
    const found = await unknownNames(snapshot, runningNames(config));
    return { warnings: found.map((finding) => ({ ...finding, rule: "unknown_name" })), notes: [] };
  } catch {
    const listed = [...new Set(outside.map(({ kind, pattern }) => `${kind} ${pattern}`))].join(
      ", ",
    );
    return {
      warnings: [],
      notes: [
        `keys or conditions name what the files do not have, and no gateway runs here to ask: ${listed}`,
      ],
    };
  }
}
