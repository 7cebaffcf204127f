/**
 * Runs before each file: the second attempt of a test begins as the first one of its file did. What
 * the hooks `beforeAll` made is ended and made anew: gateways, upstreams, keys, counters. Without
 * it, a test fails again at what its first attempt has left. Tests that run at once share what they
 * have, and must free it themselves.
 */

import { beforeEach, type RunnerTestSuite, TestRunner } from "vitest";

beforeEach(async ({ task }) => {
  if (!task.result?.retryCount || task.concurrent === true) return;
  const outward = suitesOf(task.suite ?? task.file);
  for (const suite of outward)
    for (const hook of TestRunner.getSuiteHooks(suite).afterAll.toReversed()) await hook(suite);
  for (const suite of outward.toReversed())
    for (const hook of TestRunner.getSuiteHooks(suite).beforeAll) await hook(suite);
});

/** A suite and those around it, the file last. */
function suitesOf(suite: RunnerTestSuite): RunnerTestSuite[] {
  const around = suite === suite.file ? undefined : (suite.suite ?? suite.file);
  return around === undefined ? [suite] : [suite, ...suitesOf(around)];
}
