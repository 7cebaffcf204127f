/** The pipelines of a generation as the admin listener shows them. */

import type { JsonObject, StepDefinition } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { ExchangeRecord } from "../../../accounting/exchange-record.ts";
import type { ResolvedDocument } from "../../../config/files/references.ts";
import { valueAtPath } from "../../../config/files/path.ts";
import type { PipelineSettings, Position, StepSettings } from "../../../config/snapshot.ts";
import type { Generation } from "../../../generation/generation.ts";

/** What a description needs besides the generation. */
export interface PipelineFacts {
  readonly steps: ReadonlyMap<string, StepDefinition<never>>;
  /** The files as they are written, by the names that positions have. */
  readonly written: ReadonlyMap<string, ResolvedDocument>;
  /** Requests whose explanation is kept. */
  readonly records: readonly ExchangeRecord[];
}

/** The pipelines, in the order of the files. */
export function describePipelines(live: Generation, facts: PipelineFacts) {
  return live.snapshot.pipelines.map((pipeline) => {
    const { name, operation, deadlineMs, routes, tests, steps, at, isShipped = false } = pipeline;
    const records = facts.records.filter(
      ({ outline, generation }) => outline.pipeline === name && generation === live.number,
    );
    return {
      pipeline: name,
      ...placeOf(at),
      is_shipped: isShipped,
      operation,
      deadline_ms: deadlineMs,
      routes: routes.map(({ method, path, face = null, at: place }) => ({
        route: `${method} ${path}`,
        face,
        ...placeOf(place),
      })),
      tests: tests.map((test) => ({ name: test.name, ...placeOf(test.at) })),
      steps: steps.map((step) => ({
        ...describeStep(step, pipeline, facts),
        figures: figuresOf(records, step),
        shadow: shadowOf(live, pipeline, step),
      })),
    };
  });
}

function describeStep(
  { use, index, when, active, isShadow, maySkip, timeoutMs, at }: StepSettings,
  { file }: PipelineSettings,
  { steps, written }: PipelineFacts,
) {
  const definition = steps.get(use);
  const entry = valueAtPath(written.get(file)?.document.value, ["steps", index]);
  const options = valueAtPath(entry, ["with"]);
  return {
    step: use,
    about: definition?.summary ?? null,
    ...placeOf(at),
    options: isObject(options) ? options : null,
    when: (when as JsonObject | undefined) ?? null,
    active: (active as JsonObject | undefined) ?? null,
    mode: isShadow === true ? "shadow" : "enforce",
    on_error: maySkip === true ? "skip" : "fail",
    timeout_ms: timeoutMs ?? null,
    provides: definition?.order?.provides ?? [],
  };
}

/** Codes of a step that did not do its work; every other one is a refusal. */
const FAILURES: ReadonlySet<string> = new Set(["internal_error", "plugin_failed"]);

/** Figures of a step. Not every route of a pipeline runs all of its steps. */
function figuresOf(records: readonly ExchangeRecord[], { use, at }: StepSettings) {
  const reached = records.flatMap((record) => {
    const place = record.outline.steps.findIndex(
      (step) => step.name === use && step.at.line === at.line,
    );
    const ownMs = record.ownMs[place];
    return ownMs === undefined ? [] : [{ ownMs, code: ownFailure(record, place) }];
  });
  const times = reached.map(({ ownMs }) => ownMs).toSorted((a, b) => a - b);
  const p50 = times[Math.floor((times.length - 1) / 2)];
  const codes = reached.flatMap(({ code }) => code ?? []);
  const failed = codes.filter((code) => FAILURES.has(code)).length;
  return {
    requests: times.length,
    p50_ms: p50 === undefined ? null : Math.round(p50 * 1_000) / 1_000,
    refused: codes.length - failed,
    failed,
  };
}

/** The code of a step that failed by itself: a failure also ends the steps around it. */
function ownFailure({ failures = [] }: ExchangeRecord, place: number): string | undefined {
  return failures[place + 1] === undefined ? failures[place] : undefined;
}

function shadowOf({ shadows }: Generation, { name }: PipelineSettings, { use, at }: StepSettings) {
  const report = shadows.find(
    (one) => one.pipeline === name && one.step === use && one.at.line === at.line,
  );
  return report === undefined ? null : { ...report.counts };
}

function placeOf({ file, line }: Position) {
  return { file, line };
}
