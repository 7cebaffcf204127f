/** Runs the tests of pipelines: each in a world of its own, one after the other, in a time that is bounded. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { hideCredentials } from "../config/credential.ts";
import type { Finding } from "../config/finding.ts";
import { Turns } from "../config/pieces.ts";
import type { PipelineSettings, PipelineTest } from "../config/snapshot.ts";
import { misses, type Outcome } from "./judge.ts";
import { sendInMemory } from "./send.ts";
import { createWorld, type Rehearsed, type World } from "./world.ts";

/** How one test went. */
export interface TestResult {
  readonly pipeline: string;
  readonly file: string;
  readonly name: string;
  /** Empty: it passed. */
  readonly findings: readonly Finding[];
  readonly ms: number;
}

/** Which tests run. */
export interface RehearseOptions {
  readonly signal: AbortSignal;
  /** Files as findings name them. Absent: all. */
  readonly files?: readonly string[];
}

const FIX = "Undo the edit, or correct the test if this is what you want.";

/** Runs the tests and tells how each went. Ends early, without a word of what is left, when the signal is aborted. */
export async function rehearse(subject: Rehearsed, { signal, files }: RehearseOptions): Promise<readonly TestResult[]> {
  const results: TestResult[] = [];
  const turns = new Turns();
  for (const pipeline of subject.snapshot.pipelines) {
    if (files !== undefined && !files.includes(pipeline.file)) continue;
    const untilMs = performance.now() + pipeline.testBudgetMs;
    for (const test of pipeline.tests) {
      if (signal.aborted) return results;
      const result = await runTest(subject, pipeline, test, Math.min(test.timeoutMs, untilMs - performance.now()), signal);
      // What a test that was cut short found is nothing that it found.
      if (signal.aborted) return results;
      results.push(result);
      // A gateway that serves has other things to do.
      await turns.rest();
    }
  }
  return results;
}

async function runTest(
  subject: Rehearsed,
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
  let world: World | undefined;
  try {
    world = await createWorld(subject, test);
    const outcome = await ask(world, test, AbortSignal.any([signal, late]));
    const findings = misses(test.expect, outcome).map(({ key, what }): Finding => {
      const at = (key === undefined ? undefined : test.places[key]) ?? test.at;
      return { at, message: hideCredentials(`The test "${test.name}" fails: ${what}.`), fix: FIX };
    });
    return result(findings);
  } catch (error) {
    if (late.aborted) return fault(`took longer than ${Math.ceil(timeoutMs)} ms`, "Make it faster, or raise its `timeout`.");
    return fault(`could not run: ${error instanceof Error ? error.message : String(error)}`, FIX);
  } finally {
    await world?.close();
  }
}

async function ask(world: World, test: PipelineTest, signal: AbortSignal): Promise<Outcome> {
  const { credential, book, rows, complaints } = world;
  const headers = { ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }), ...test.headers };
  const { method, target, body } = test;
  const reply = await sendInMemory(world.handle, { method, target, headers, body }, signal);
  // What is kept of an exchange is written behind its reply.
  await nextTurn();
  const errorCode = world.record(String(reply.headers["x-request-id"]))?.errorCode;
  return { reply, book, rows, errorCode, complaints };
}
