/** What the gateway promises about its speed. One row each. */

import type { ScenarioResult } from "./tables.ts";
import type { Slice } from "../load/slice.ts";
import { median } from "../statistics.ts";

/** A quotient of two targets, and what it may be. */
export interface Goal {
  readonly scenario: string;
  /** The target that is judged. Default: `sluice`. */
  readonly target?: string;
  readonly against: string;
  /** The scenario of the other target, where it is another one. */
  readonly againstScenario?: string;
  readonly figure: "CPU" | "requests/s";
  readonly atMost?: number;
  readonly atLeast?: number;
  /** What the quotient says. */
  readonly what: string;
}

const WHOLE = "whole c=32";
const BURST = "burst stream c=32";
const TRANSLATED = "translated burst c=32";

export const GOALS: readonly Goal[] = [
  { ...ofFloor(WHOLE), figure: "CPU", atMost: 1.2 },
  { ...ofFloor(WHOLE), figure: "requests/s", atLeast: 0.85 },
  { ...ofFloor("whole c=1"), figure: "CPU", atMost: 1.35 },
  { ...ofFloor(BURST), figure: "CPU", atMost: 1.5 },
  { ...ofFloor(BURST), figure: "requests/s", atLeast: 0.65 },
  { ...ofFloor("paced stream c=32"), figure: "CPU", atMost: 1.2 },
  {
    ...ofSluice(WHOLE, "sluice-limits-cache", "limits, a budget and a cache miss"),
    atMost: 1.15,
  },
  {
    ...ofSluice(WHOLE, "sluice-all-scopes", "limits of six scopes"),
    against: "sluice-limits",
    what: "limits of six scopes, of those of a key alone",
    atMost: 1.1,
  },
  { ...ofSluice("stream c=16", "sluice-guardrails", "three guardrails"), atMost: 1.3 },
  {
    what: "a translated stream, of an untranslated one",
    scenario: TRANSLATED,
    against: "sluice",
    againstScenario: BURST,
    figure: "CPU",
    atMost: 1.5,
  },
  { ...ofSluice(WHOLE, "sluice-many-models", "10,000 models"), atMost: 1.05 },
  { ...ofSluice(WHOLE, "sluice-many-pipelines", "500 pipelines"), atMost: 1.05 },
  { ...ofSluice(WHOLE, "sluice-many-generations", "after 1,000 generations"), atMost: 1.05 },
  {
    ...ofSluice(WHOLE, "sluice-million-keys", "1,000,000 keys"),
    against: "sluice-ten-keys",
    atMost: 1.05,
  },
  {
    ...ofSluice(WHOLE, "sluice-million-used-keys", "1,000,000 keys, all in use"),
    against: "sluice-ten-keys",
    atMost: 1.05,
  },
  { ...ofSluice(WHOLE, "sluice-two-workers", "two workers"), atMost: 1.08 },
  { ...ofPortkey(WHOLE), atLeast: 6 },
  { ...ofPortkey(BURST), atLeast: 8 },
  { ...ofFloor("embeddings 3 MB"), figure: "CPU", atMost: 1 },
  { ...ofFloor("image 5 MB"), figure: "CPU", atMost: 1 },
];

/** A line for each goal that this run can judge. Figures are medians of the rounds' quotients. */
export function judge(results: readonly ScenarioResult[]): string[] {
  const slicesOf = (scenario: string, target: string): readonly Slice[] =>
    results
      .find((result) => result.scenario === scenario)
      ?.measured.find((entry) => entry.target === target)?.slices ?? [];
  return GOALS.flatMap((goal) => {
    const own = slicesOf(goal.scenario, goal.target ?? "sluice");
    const other = slicesOf(goal.againstScenario ?? goal.scenario, goal.against);
    const pick = (slice: Slice) => (goal.figure === "CPU" ? slice.cpuUs : slice.requestsPerSecond);
    const quotients = own.flatMap((slice, round) =>
      other[round] === undefined ? [] : [pick(slice) / pick(other[round])],
    );
    return quotients.length === 0 ? [] : [lineOf(goal, median(quotients))];
  });
}

function lineOf({ scenario, what, figure, atMost, atLeast }: Goal, quotient: number): string {
  const isMet = quotient <= (atMost ?? Infinity) && quotient >= (atLeast ?? 0);
  const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
  return `- ${isMet ? "met" : "**missed**"}: ${scenario}: ${figure}, ${what}: ${bound} (${quotient.toFixed(2)})`;
}

function ofFloor(scenario: string) {
  return { scenario, against: "floor", what: "of the floor" };
}

function ofPortkey(scenario: string) {
  return { scenario, against: "portkey", figure: "requests/s", what: "of Portkey" } as const;
}

function ofSluice(scenario: string, target: string, what: string) {
  return {
    scenario,
    target,
    against: "sluice",
    figure: "CPU",
    what: `${what}, of without`,
  } as const;
}
