/** The tests of a configuration that nobody serves yet: for a command, and for a start that may take another one. */

import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { Generation } from "../generation/generation.ts";
import { buildFindings } from "../generation/build-error.ts";
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
    return { results: [], findings: buildFindings(snapshot, error) };
  } finally {
    await candidate?.drain(0);
  }
}
