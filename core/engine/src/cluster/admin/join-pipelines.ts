/** Joins the pipelines of several workers: each has figures of its own requests. */

import { isObject } from "@sluice/kit";
import type { Values } from "./join-answers.ts";

type Value = Record<string, unknown>;

/**
 * The first worker's pipelines with the counts of all that run the same generation. A median is
 * that of the worker with the most requests.
 */
export function joinPipelines(values: Values): unknown {
  const [first] = values;
  const generation = first?.value["generation"];
  const same = values.map(({ value }) => value).filter((one) => one["generation"] === generation);
  return {
    ...first?.value,
    pipelines: listOf(first?.value, "pipelines").map((pipeline, index) => {
      const others = same.map((one) => listOf(one, "pipelines")[index] ?? {});
      return {
        ...pipeline,
        steps: listOf(pipeline, "steps").map((step, place) =>
          joinStep(
            step,
            others.map((one) => listOf(one, "steps")[place] ?? {}),
          ),
        ),
      };
    }),
  };
}

function joinStep(step: Value, all: readonly Value[]): Value {
  const figures = all.map((one) => memberOf(one, "figures"));
  const [busiest] = figures.toSorted((a, b) => Number(b["requests"]) - Number(a["requests"]));
  return {
    ...step,
    figures: { ...sums(figures), p50_ms: busiest?.["p50_ms"] ?? null },
    shadow: step["shadow"] === null ? null : sums(all.map((one) => memberOf(one, "shadow"))),
  };
}

/** Every count, added up. */
function sums(counts: readonly Value[]): Value {
  const names = Object.keys(counts[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, counts.reduce((sum, one) => sum + Number(one[name] ?? 0), 0)]),
  );
}

function listOf(value: Value | undefined, name: string): readonly Value[] {
  const list = value?.[name];
  return Array.isArray(list) ? (list as readonly Value[]) : [];
}

function memberOf(value: Value, name: string): Value {
  const member = value[name];
  return isObject(member) ? (member as Value) : {};
}
