/** The report of guardrails of several workers. */

import type { Values } from "./join-answers.ts";

interface Step {
  readonly pipeline: string;
  readonly step: string;
  readonly declared_in: string;
  readonly word: string;
  readonly runs: number;
  readonly refused: number;
  readonly answered: number;
  readonly changed: number;
  readonly failed: number;
}

/** Joins the reports. Their sums are those of one store: the first worker's are all. */
export function joinGuardrails(values: Values): unknown {
  const steps = new Map<string, Step>();
  for (const step of values.flatMap(({ value }) => value["steps"] as readonly Step[])) {
    const name = `${step.pipeline} ${step.declared_in}`;
    const other = steps.get(name);
    steps.set(name, other === undefined ? step : sumOf(other, step));
  }
  return { ...values[0]?.value, steps: [...steps.values()] };
}

function sumOf(a: Step, b: Step): Step {
  return {
    ...a,
    runs: a.runs + b.runs,
    refused: a.refused + b.refused,
    answered: a.answered + b.answered,
    changed: a.changed + b.changed,
    failed: a.failed + b.failed,
  };
}
