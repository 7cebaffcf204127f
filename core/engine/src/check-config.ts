/** Reading and checking a whole configuration, before anything is made of it. */

import type { AnyDefinition } from "@sluice/contract";
import type { Finding } from "./config/finding.ts";
import { openConfig, type OpenedConfig, type OpenOptions, resolveSnapshot } from "./config/load.ts";
import type { Snapshot } from "./config/snapshot.ts";
import { checkCandidate } from "./lint/check-candidate.ts";
import type { Definitions } from "./registry/definitions.ts";
import { loadPlugins } from "./registry/load.ts";
import { withPackages } from "./registry/missing-packages.ts";
import type { AloneResult } from "./preflight/alone.ts";
import { createLog } from "./telemetry/log.ts";

/** A configuration that was read and checked whole. */
export interface CheckedConfig {
  readonly opened: OpenedConfig;
  readonly definitions: Definitions;
  readonly snapshot: Snapshot | undefined;
  readonly findings: readonly Finding[];
}

/** What a reading needs, and the definitions that a program brings. */
export interface CheckOptions extends OpenOptions {
  readonly ownPlugins?: readonly AnyDefinition[];
}

/** Reads and checks a configuration: files, plugins, schemas, order of the steps. Makes nothing. */
export async function checkConfig(place: CheckOptions): Promise<CheckedConfig> {
  const opened = openConfig(place);
  const { definitions, findings: pluginFindings } = await loadPlugins(
    opened.plugins,
    place.ownPlugins,
  );
  const resolved = resolveSnapshot(opened, definitions.all);
  // A plugin that cannot be loaded is not found either, wherever it is used.
  const others = checkCandidate(resolved, definitions).filter(
    ({ isUnknownPlugin }) => isUnknownPlugin !== true || pluginFindings.length === 0,
  );
  const all = withPackages([...pluginFindings, ...others], opened);
  return {
    opened,
    definitions,
    snapshot: all.length === 0 ? resolved.snapshot : undefined,
    findings: all,
  };
}

/** A start that failed because of the configuration. */
export class ConfigError extends Error {
  readonly findings: readonly Finding[];
  /** The generation that a start from the last good configuration would take, when there is one. */
  readonly lastGood: number | undefined;

  constructor(findings: readonly Finding[], lastGood?: number) {
    super(`The configuration has ${findings.length} finding${findings.length === 1 ? "" : "s"}.`);
    this.findings = findings;
    this.lastGood = lastGood;
  }
}

/**
 * Builds a generation without a gateway and runs the tests of `files` (absent: of all files), until
 * `signal` ends them. Loads both listeners. Never rejects.
 */
export async function runTestsAlone(
  snapshot: Snapshot,
  definitions: Definitions,
  files?: readonly string[],
  signal?: AbortSignal,
): Promise<AloneResult> {
  const alone = await import("./preflight/alone.ts");
  return alone.runTestsAlone(snapshot, definitions, files, signal);
}

/**
 * A configuration whose own tests have run as well: without a snapshot when one fails, or when a
 * plugin cannot be made.
 */
export async function withTests(checked: CheckedConfig): Promise<CheckedConfig> {
  const { snapshot, definitions } = checked;
  if (snapshot === undefined) return checked;
  const { results, findings } = await runTestsAlone(snapshot, definitions);
  const all = [...findings, ...results.flatMap((result) => result.findings)];
  return all.length === 0 ? checked : { ...checked, snapshot: undefined, findings: all };
}

/**
 * A configuration whose plugins have been made as well: without a snapshot when one of them cannot
 * be. Where there are guardrails everything is started too, for what only the living ones can tell:
 * their reach, and whether each denies its own sample.
 */
export async function withPlugins(checked: CheckedConfig): Promise<CheckedConfig> {
  const { snapshot, definitions } = checked;
  if (snapshot === undefined) return checked;
  const { createFaultsAlone } = await import("./preflight/build-alone.ts");
  const findings =
    snapshot.guardrails.length === 0
      ? await createFaultsAlone(snapshot, definitions, createLog("silent"))
      : (await runTestsAlone(snapshot, definitions, [])).findings;
  return findings.length === 0 ? checked : { ...checked, snapshot: undefined, findings };
}
