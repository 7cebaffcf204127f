/** The tests of a configuration that nobody serves yet: for a command, and for a start that may take another one. */

import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { Generation } from "../generation/generation.ts";
import { BuildError } from "../generation/build-error.ts";
import { placeOf } from "../pipeline/blame.ts";
import type { Definitions } from "../registry/definitions.ts";
import { createLog } from "../telemetry/log.ts";
import { rehearse, type TestResult } from "./rehearse.ts";
import { buildAlone } from "./world.ts";

/** What the tests came to, or why none could run. */
export interface AloneResult {
  readonly results: readonly TestResult[];
  readonly findings: readonly Finding[];
}

/** Makes a generation beside any gateway, runs the tests of these files, or of all, and closes it. Never rejects. */
export async function rehearseAlone(
  snapshot: Snapshot,
  definitions: Definitions,
  files?: readonly string[],
): Promise<AloneResult> {
  let candidate: Generation | undefined;
  try {
    candidate = await buildAlone(snapshot, definitions, createLog("silent"));
    const subject = { snapshot, definitions, guardrails: candidate.guardrails };
    const { signal } = new AbortController();
    const results = await rehearse(subject, files === undefined ? { signal } : { signal, files });
    return { results, findings: [] };
  } catch (error) {
    return { results: [], findings: error instanceof BuildError ? error.findings : [faultOf(error, snapshot)] };
  } finally {
    await candidate?.drain(0);
  }
}

/**
 * Findings about the guardrails that only the living ones can tell: their reach, and whether each denies its own sample. Each start has
 * 10 s, each test 30 s. Never rejects.
 */
export async function guardrailFindings(snapshot: Snapshot, definitions: Definitions): Promise<readonly Finding[]> {
  if (snapshot.guardrails.length === 0) return [];
  const { findings } = await rehearseAlone(snapshot, definitions, []);
  return findings;
}

function faultOf(error: unknown, { files }: Snapshot): Finding {
  const said = error instanceof Error ? error.message : String(error);
  return {
    at: placeOf(error) ?? { file: files[0]?.end.file ?? "", line: 1, column: 1 },
    message: `A plugin could not be made: ${said}`,
    fix: "Correct the plugin or its options.",
  };
}
