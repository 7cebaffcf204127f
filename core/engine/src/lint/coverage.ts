/** Coverage: the protections of each route, read from its pipeline. */

import type { Operation } from "@sluice/contract";
import type { PipelineSettings, Position, StepSettings } from "../config/snapshot.ts";
import type { Protection } from "../config/schema/policies.ts";
import { guardrailUse } from "../pipeline/steps/uses.ts";
import { type LintSubject, standingGuardrails, capabilitiesOf } from "./rule.ts";

/** The protections of one route. */
export interface RouteCoverage {
  readonly route: string;
  readonly pipeline: string;
  readonly operation: Operation;
  readonly auth: boolean;
  readonly limits: boolean;
  /** Whether budgets are enforced: they need limits and a price. */
  readonly budget: boolean;
  readonly cost: boolean;
  /**
   * Names of the guardrails that check requests, each with its condition, if any. Keys and requests
   * may name more.
   */
  readonly guardrailsIn: readonly string[];
  readonly guardrailsOut: readonly string[];
  /**
   * How guardrails check a streamed reply. `undefined`: the route does not stream, or no guardrail
   * checks replies.
   */
  readonly streamMode: string | undefined;
  readonly streams: boolean;
  readonly deadlineMs: number;
  readonly tests: number;
  readonly at: Position;
}

const UPSTREAM: ReadonlySet<Operation> = new Set<Operation>([
  "chat",
  "embeddings",
  "images",
  "passthrough",
]);
const STREAMS: ReadonlySet<Operation> = new Set<Operation>(["chat", "passthrough"]);

/** Whether the routes of an operation call upstreams. */
export function callsUpstreams({ operation }: PipelineSettings): boolean {
  return UPSTREAM.has(operation);
}

/** The coverage of every route, in the order of the files. */
export function coverageOf(subject: LintSubject): readonly RouteCoverage[] {
  return subject.snapshot.pipelines.flatMap((pipeline) => {
    const { name, operation, deadlineMs, tests, routes } = pipeline;
    const protection = protectionOf(pipeline, subject);
    const streams = STREAMS.has(operation);
    return routes.map(({ method, path, at }): RouteCoverage => {
      const route = `${method} ${path}`;
      return {
        route,
        pipeline: name,
        operation,
        ...protection,
        streams,
        deadlineMs,
        tests: tests.length,
        at,
      };
    });
  });
}

type Protecting = Pick<
  RouteCoverage,
  "auth" | "limits" | "budget" | "cost" | "guardrailsIn" | "guardrailsOut" | "streamMode"
>;

function protectionOf(
  { steps, operation }: PipelineSettings,
  { snapshot, definitions, unknown = [] }: LintSubject,
): Protecting {
  const capabilities = new Set(steps.flatMap(({ use }) => capabilitiesOf(use, definitions)));
  const uses = steps.flatMap((step) => {
    const named = guardrailUse(definitions.steps.get(step.use), step.options);
    if (named === undefined) return [];
    const standing = standingGuardrails(snapshot.guardrails);
    const isUnknown = unknown.some(
      ({ file, line, column }) => formatPlace(step.at) === `${file}:${line}:${column}`,
    );
    const limit = isUnknown ? `${limitOf(step)} (no such name)` : limitOf(step);
    const limited = (names: readonly string[]): readonly string[] =>
      [...names, ...standing].map((name) => `${name}${limit}`);
    return [{ input: limited(named.input), output: limited(named.output), stream: named.stream }];
  });
  const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];
  const guardrailsOut = unique(uses.flatMap(({ output }) => output));
  const [first] = uses;
  return {
    auth: capabilities.has("identity"),
    limits: capabilities.has("limits"),
    cost: capabilities.has("cost"),
    budget: capabilities.has("limits") && capabilities.has("cost"),
    guardrailsIn: unique(uses.flatMap(({ input }) => input)),
    guardrailsOut,
    streamMode: STREAMS.has(operation) && guardrailsOut.length > 0 ? first?.stream : undefined,
  };
}

function formatPlace({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/**
 * The condition of a step, as a suffix for a name: ` (when team=support)`. Empty when the step
 * applies to every request.
 */
function limitOf({ when, active, isShadow }: StepSettings): string {
  const { header = {}, stream, ...lists } = when ?? {};
  const parts = [
    ...Object.entries(lists).map(([name, values]) => `${name}=${values.join("|")}`),
    ...Object.entries(header).map(([name, values]) => `header ${name}=${values.join("|")}`),
    ...(stream === undefined ? [] : [`stream=${stream}`]),
  ];
  const limits = [
    ...(parts.length === 0 ? [] : [`when ${parts.join(" and ")}`]),
    ...(active === undefined ? [] : ["on schedule"]),
    ...(isShadow === true ? ["in shadow"] : []),
  ];
  return limits.length === 0 ? "" : ` (${limits.join(", ")})`;
}

/** Whether the route of `coverage` has the protection. */
export function hasProtection(coverage: RouteCoverage, protection: Protection): boolean {
  switch (protection) {
    case "limits":
      return coverage.limits;
    case "cost":
      return coverage.cost;
    case "guardrails_in":
      return coverage.guardrailsIn.length > 0;
    case "guardrails_out":
      return coverage.guardrailsOut.length > 0;
    default:
      return protection satisfies never;
  }
}
