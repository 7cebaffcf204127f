/** Runs the tests of pipelines one after another, each in its own sandbox and with a deadline. */

import { errorMessage } from "@sluice/contract";
import { setImmediate as nextTurn } from "node:timers/promises";
import { hideCredentials } from "../config/validate/credential.ts";
import type { Finding } from "../config/finding.ts";
import { TimeSlices } from "../config/files/slices.ts";
import type { PipelineSettings, PipelineTest } from "../config/snapshot.ts";
import { unmetExpectations, type Outcome } from "./expectations.ts";
import { sendInMemory } from "../http/in-memory.ts";
import { createSandbox, type PreflightSubject, type Sandbox } from "./sandbox.ts";

/** The result of one test. */
export interface TestResult {
  readonly pipeline: string;
  readonly file: string;
  readonly name: string;
  /** Empty when the test passed. */
  readonly findings: readonly Finding[];
  readonly ms: number;
}

/** Which tests run. */
export interface PreflightOptions {
  readonly signal: AbortSignal;
  /** Paths in the form that findings use. Absent: all files. */
  readonly files?: readonly string[];
}

const FIX = "Undo the edit, or correct the test if this is what you want.";

/**
 * Runs the tests and returns the result of each. An aborted signal ends the run; tests that have
 * not finished have no result.
 */
export async function runTests(
  subject: PreflightSubject,
  { signal, files }: PreflightOptions,
): Promise<readonly TestResult[]> {
  const results: TestResult[] = [];
  const slices = new TimeSlices();
  for (const pipeline of subject.snapshot.pipelines) {
    if (files !== undefined && !files.includes(pipeline.file)) continue;
    const untilMs = performance.now() + pipeline.testBudgetMs;
    for (const test of pipeline.tests) {
      if (signal.aborted) return results;
      const result = await runTest(
        subject,
        pipeline,
        test,
        Math.min(test.timeoutMs, untilMs - performance.now()),
        signal,
      );
      // The findings of an aborted test are invalid.
      if (signal.aborted) return results;
      results.push(result);
      // Traffic of a live gateway runs between two tests.
      await slices.pause();
    }
  }
  return results;
}

async function runTest(
  subject: PreflightSubject,
  { name: pipeline, file, testBudgetMs }: PipelineSettings,
  test: PipelineTest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<TestResult> {
  const startedMs = performance.now();
  const result = (findings: readonly Finding[]): TestResult => ({
    pipeline,
    file,
    name: test.name,
    findings,
    ms: performance.now() - startedMs,
  });
  const fault = (what: string, fix: string): TestResult =>
    result([{ at: test.at, message: hideCredentials(`The test "${test.name}" ${what}.`), fix }]);
  if (timeoutMs <= 0) {
    return fault(
      `did not run: the tests before it took the ${testBudgetMs} ms of \`test_budget\``,
      "Make them faster, or raise it.",
    );
  }
  const late = AbortSignal.timeout(Math.ceil(timeoutMs));
  let sandbox: Sandbox | undefined;
  try {
    sandbox = await createSandbox(subject, test);
    const outcome = await ask(sandbox, test, AbortSignal.any([signal, late]));
    const findings = unmetExpectations(test.expect, outcome).map(({ key, what }): Finding => {
      const at = (key === undefined ? undefined : test.places[key]) ?? test.at;
      return { at, message: hideCredentials(`The test "${test.name}" fails: ${what}.`), fix: FIX };
    });
    return result(findings);
  } catch (error) {
    if (late.aborted)
      return fault(
        `took longer than ${Math.ceil(timeoutMs)} ms`,
        "Make it faster, or raise its `timeout`.",
      );
    return fault(`could not run: ${errorMessage(error)}`, FIX);
  } finally {
    await sandbox?.close();
  }
}

async function ask(sandbox: Sandbox, test: PipelineTest, signal: AbortSignal): Promise<Outcome> {
  const { credential, upstreamLog, rows, errors } = sandbox;
  const headers = {
    ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
    ...test.headers,
  };
  const { method, target, body } = test;
  const reply = await sendInMemory(sandbox.handle, { method, target, headers, body }, signal);
  // The record of an exchange is written after its reply.
  await nextTurn();
  const errorCode = sandbox.record(String(reply.headers["x-request-id"]))?.errorCode;
  return { reply, upstreamLog, rows, errorCode, errors };
}
