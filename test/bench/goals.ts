/** What the gateway promises about its speed. One row each; issue 2 of the project. */

import type { ScenarioResult, Summary } from "./report.ts";

/** One promise. */
export interface Goal {
  readonly text: string;
  readonly scenario: string;
  /** The target that is judged. Default: `sluice`. */
  readonly target?: "sluice-limits-cache" | "sluice-guardrails";
  readonly against: "floor" | "portkey" | "sluice";
  readonly figure: (own: Summary, other: Summary) => number;
  readonly isMet: (figure: number) => boolean;
}

const speed = (own: Summary, other: Summary) => own.requestsPerSecond / other.requestsPerSecond;

export const GOALS: readonly Goal[] = [
  {
    text: "whole c=32: at least 0.7 of the floor's requests per second",
    scenario: "whole c=32",
    against: "floor",
    figure: (own) => own.speedRatio,
    isMet: (figure) => figure >= 0.7,
  },
  {
    text: "whole c=32: at most 1.4 times the floor's CPU per request",
    scenario: "whole c=32",
    against: "floor",
    figure: (own) => own.cpuRatio,
    isMet: (figure) => figure <= 1.4,
  },
  {
    text: "whole c=32: limits, a budget and a cache miss add less than 15 % CPU per request",
    scenario: "whole c=32",
    target: "sluice-limits-cache",
    against: "sluice",
    figure: (own, other) => own.cpuUs / other.cpuUs,
    isMet: (figure) => figure < 1.15,
  },
  {
    text: "whole c=32: at least 6 times Portkey",
    scenario: "whole c=32",
    against: "portkey",
    figure: speed,
    isMet: (figure) => figure >= 6,
  },
  {
    text: "whole c=1: less than 0.3 ms added to the floor's p50",
    scenario: "whole c=1",
    against: "floor",
    figure: (own) => own.addedP50Ms,
    isMet: (figure) => figure < 0.3,
  },
  {
    text: "stream c=16: at least 0.6 of a floor that pipes the bytes",
    scenario: "stream c=16",
    against: "floor",
    figure: (own) => own.speedRatio,
    isMet: (figure) => figure >= 0.6,
  },
  {
    text: "stream c=1: at least 8 times Portkey",
    scenario: "stream c=1",
    against: "portkey",
    figure: speed,
    isMet: (figure) => figure >= 8,
  },
  {
    text: "stream c=16: at least 8 times Portkey",
    scenario: "stream c=16",
    against: "portkey",
    figure: speed,
    isMet: (figure) => figure >= 8,
  },
  {
    text: "embeddings 3 MB: no more CPU than a floor that parses them",
    scenario: "embeddings 3 MB",
    against: "floor",
    figure: (own) => own.cpuRatio,
    isMet: (figure) => figure <= 1,
  },
  {
    text: "image 5 MB: no more CPU than a floor that parses it",
    scenario: "image 5 MB",
    against: "floor",
    figure: (own) => own.cpuRatio,
    isMet: (figure) => figure <= 1,
  },
  {
    text: "stream c=16: three guardrails cost at most 1.5 times the CPU of none",
    scenario: "stream c=16",
    target: "sluice-guardrails",
    against: "sluice",
    figure: (own, other) => own.cpuUs / other.cpuUs,
    isMet: (figure) => figure <= 1.5,
  },
];

/** A line for each goal that this run can judge. */
export function judge(results: readonly ScenarioResult[]): string[] {
  return GOALS.flatMap((goal) => {
    const summaries = results.find((result) => result.scenario === goal.scenario)?.summaries ?? [];
    const own = summaries.find((summary) => summary.target === (goal.target ?? "sluice"));
    const other = summaries.find((summary) => summary.target === goal.against);
    if (own === undefined || other === undefined) return [];
    const figure = goal.figure(own, other);
    return [`- ${goal.isMet(figure) ? "met" : "**missed**"}: ${goal.text} (${figure.toFixed(2)})`];
  });
}
