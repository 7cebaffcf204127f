/**
 * Runs the tests of a configuration that is not live: for a command, and for a start that may fall
 * back to another configuration.
 */

import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { Generation } from "../generation/generation.ts";
import { buildFindings } from "../generation/build-error.ts";
import type { Definitions } from "../registry/definitions.ts";
import { createLog } from "../telemetry/log.ts";
import { runTests, type TestResult } from "./run-tests.ts";
import { buildAlone } from "./build-alone.ts";

/** The results of the tests, or the findings that kept all of them from running. */
export interface AloneResult {
  readonly results: readonly TestResult[];
  readonly findings: readonly Finding[];
}

/**
 * Builds a generation without a gateway, runs the tests of `files` (absent: of all files) and
 * closes it. `signal` ends the run early: a test that has not finished has no result. Never
 * rejects.
 */
export async function runTestsAlone(
  snapshot: Snapshot,
  definitions: Definitions,
  files?: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<AloneResult> {
  let candidate: Generation | undefined;
  try {
    candidate = await buildAlone(snapshot, definitions, createLog("silent"));
    const subject = {
      snapshot,
      definitions,
      guardrails: candidate.guardrails,
      routes: candidate.routes,
    };
    const results = await runTests(subject, files === undefined ? { signal } : { signal, files });
    return { results, findings: [] };
  } catch (error) {
    return { results: [], findings: buildFindings(snapshot, error) };
  } finally {
    await candidate?.drain(0);
  }
}
