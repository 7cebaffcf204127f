/**
 * From slices to tables. Every figure is the median of the rounds; every ratio the median of the
 * rounds' ratios.
 */

import { cpus } from "node:os";
import { judge } from "./goals.ts";
import type { Slice } from "../load/slice.ts";
import { median } from "../statistics.ts";

/** The slices of one target in one scenario, round by round. */
export interface TargetSlices {
  readonly target: string;
  readonly slices: readonly Slice[];
}

/** One row of a table. */
export interface Summary extends Slice {
  readonly target: string;
  /** Requests per second over the floor's in the same round. NaN without a floor. */
  readonly speedRatio: number;
  readonly cpuRatio: number;
  readonly addedP50Ms: number;
}

/** One table. */
export interface ScenarioResult {
  readonly scenario: string;
  readonly summaries: readonly Summary[];
  readonly measured: readonly TargetSlices[];
}

/** Condenses the rounds of one scenario. */
export function summarize(scenario: string, measured: readonly TargetSlices[]): ScenarioResult {
  const floor = measured.find((entry) => entry.target === "floor")?.slices ?? [];
  const summaries = measured.map(({ target, slices }): Summary => {
    const middle = (pick: (slice: Slice) => number) => median(slices.map(pick));
    const compared = (compare: (own: Slice, other: Slice) => number) =>
      median(
        slices.flatMap((slice, round) =>
          floor[round] === undefined ? [] : [compare(slice, floor[round])],
        ),
      );
    return {
      target,
      requestsPerSecond: middle((slice) => slice.requestsPerSecond),
      p50Ms: middle((slice) => slice.p50Ms),
      p99Ms: middle((slice) => slice.p99Ms),
      cpuUs: middle((slice) => slice.cpuUs),
      busy: middle((slice) => slice.busy),
      residentMb: middle((slice) => slice.residentMb),
      reads: middle((slice) => slice.reads),
      speedRatio: compared((own, other) => own.requestsPerSecond / other.requestsPerSecond),
      cpuRatio: compared((own, other) => own.cpuUs / other.cpuUs),
      addedP50Ms: compared((own, other) => own.p50Ms - other.p50Ms),
    };
  });
  return { scenario, summaries, measured };
}

const COLUMNS: readonly [title: string, cell: (summary: Summary) => string][] = [
  ["target", (row) => row.target],
  ["req/s", (row) => row.requestsPerSecond.toFixed(row.requestsPerSecond < 1000 ? 1 : 0)],
  ["p50 ms", (row) => row.p50Ms.toFixed(3)],
  ["p99 ms", (row) => row.p99Ms.toFixed(3)],
  ["CPU µs/req", (row) => row.cpuUs.toFixed(1)],
  ["RSS MB", (row) => row.residentMb.toFixed(0)],
  ["req/s ÷ floor", (row) => ratio(row.speedRatio)],
  ["CPU ÷ floor", (row) => ratio(row.cpuRatio)],
  ["p50 − floor ms", (row) => (Number.isNaN(row.addedP50Ms) ? "–" : row.addedP50Ms.toFixed(3))],
  ["reads/reply", (row) => row.reads.toFixed(0)],
  ["server core busy", (row) => `${(row.busy * 100).toFixed(0)} %`],
];

/** One scenario as a table in Markdown, its columns aligned for a terminal. */
export function table({ scenario, summaries }: ScenarioResult): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...summaries.map((row) => COLUMNS.map(([, cell]) => cell(row))),
  ];
  const widths = COLUMNS.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`);
  return `## ${scenario}\n\n${lines.join("\n")}\n`;
}

/** What stands above the tables. */
export function headline(command: string): string {
  const [processor] = cpus();
  return `# Results of the last full run

${new Date().toISOString()} · Node ${process.version} · ${processor?.model.trim()} × ${cpus().length} · \`${command}\`

What each figure means: [README.md](README.md).`;
}

/** The tables and goals of targets that were measured together, in Markdown. */
export function section(results: readonly ScenarioResult[], notes: readonly string[] = []): string {
  const goals = judge(results);
  return [
    `Medians of ${shownRounds(results)} interleaved rounds.`,
    ...(notes.length > 0 ? [notes.map((note) => `- ${note}`).join("\n")] : []),
    ...results.map((result) => table(result).trimEnd()),
    ...(goals.length > 0 ? [`## Goals\n\n${goals.join("\n")}`] : []),
  ].join("\n\n");
}

/** The least and the most rounds that a target was measured in. */
function shownRounds(results: readonly ScenarioResult[]): string {
  const rounds = results.flatMap(({ measured }) => measured.map(({ slices }) => slices.length));
  const [least, most] = [Math.min(...rounds), Math.max(...rounds)];
  return least === most ? String(most) : `${least} to ${most}`;
}

function ratio(value: number): string {
  return Number.isNaN(value) ? "–" : value.toFixed(2);
}
