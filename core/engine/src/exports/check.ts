/**
 * @sluice/engine/check: reads, checks, tests and compares configurations without serving them.
 * Loads every part of the engine that they use.
 */

export {
  checkConfig,
  type CheckedConfig,
  ConfigError,
  runTestsAlone,
  withPlugins,
  withTests,
} from "../check-config.ts";
export { effectsOf } from "../generation/diff/effects/effects.ts";
export { coverageOf, type RouteCoverage } from "../lint/coverage.ts";
export { describeCoverage } from "../lint/describe-coverage.ts";
export { lintsOf } from "../lint/lint.ts";
export type { Definitions } from "../registry/definitions.ts";
export type { TestResult } from "../preflight/run-tests.ts";
