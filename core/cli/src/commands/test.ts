/** `sluice test`: the tests of the pipelines, without a gateway. */

import { resolve } from "node:path";
import { checkConfig, runTestsAlone, type TestResult } from "@sluice/engine/check";
import { type Finding, formatFinding, type Snapshot } from "@sluice/engine/config";
import { CommandError, EXIT } from "../exit.ts";

/** Options of the command. */
export interface TestOptions {
  readonly config: string;
  readonly json?: boolean;
}

export async function test(
  files: readonly string[],
  { config, json = false }: TestOptions,
): Promise<void> {
  const cwd = process.cwd();
  const { snapshot, findings, definitions } = await checkConfig({
    path: config,
    cwd,
    environment: process.env,
  });
  if (snapshot === undefined) return report([], findings, json);
  const chosen = files.length === 0 ? undefined : files.map((file) => fileOf(file, snapshot, cwd));
  const tested = await runTestsAlone(snapshot, definitions, chosen);
  report(tested.results, tested.findings, json);
}

/** The name under which findings know a file. */
function fileOf(file: string, { pipelines }: Snapshot, cwd: string): string {
  const known = pipelines.find((pipeline) => resolve(cwd, pipeline.file) === resolve(cwd, file));
  if (known !== undefined) return known.file;
  const names = pipelines.map((pipeline) => pipeline.file).join(", ");
  throw new CommandError(
    EXIT.usage,
    `${file} is no pipeline file of this configuration. It has ${names}.`,
  );
}

function report(results: readonly TestResult[], findings: readonly Finding[], json: boolean): void {
  const failed = results.filter((result) => result.findings.length > 0);
  if (findings.length > 0 || failed.length > 0) process.exitCode = EXIT.findings;
  if (json) {
    const plain = (list: readonly Finding[]) =>
      list.map(({ at, message, fix }) => ({ ...at, message, fix }));
    const tests = results.map((result) => ({
      pipeline: result.pipeline,
      file: result.file,
      name: result.name,
      outcome: result.findings.length === 0 ? "passed" : "failed",
      ms: Math.round(result.ms),
      findings: plain(result.findings),
    }));
    console.log(JSON.stringify({ findings: plain(findings), tests }, null, 2));
    return;
  }
  for (const finding of findings) console.log(formatFinding(finding));
  for (const result of results) {
    console.log(
      `${result.findings.length === 0 ? "ok    " : "FAILED"}  ${result.pipeline}: ${result.name} (${Math.round(result.ms)} ms)`,
    );
    for (const finding of result.findings) console.log(formatFinding(finding));
  }
  if (findings.length > 0) return;
  const ms = Math.round(results.reduce((sum, result) => sum + result.ms, 0));
  console.log(
    `${failed.length === 0 ? "ok" : "failed"}: ${results.length - failed.length} of ${results.length} tests, ${ms} ms`,
  );
}
