/** Writes docs/metrics.md from the tables of metrics: `node test/generate/metrics.ts`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HistogramDescription, MetricDescription } from "@sluice/spec";
import { CREW_METRICS, PROCESS_METRICS, REQUEST_METRICS, STATE_METRICS } from "../../core/engine/src/telemetry/metric-table.ts";
import { REFUSALS } from "../../plugins/standard/src/limits-refusal.ts";
import { CONNECTION_WAITS } from "../../plugins/standard/src/upstreams.ts";

/** Where the page is. */
export const METRICS_PAGE = join(import.meta.dirname, "../../docs/metrics.md");

const INTRODUCTION = `# Metrics

<!-- Made by \`node test/generate/metrics.ts\` from core/engine/src/telemetry/metric-table.ts and the steps. Do not edit. -->

\`GET /metrics\` on the admin listener answers in Prometheus' text format; it takes the key in
\`server.admin.read_key\`, which reads metrics and status and nothing else, or the master key:

\`\`\`yaml
scrape_configs:
  - job_name: sluice
    authorization: { credentials_file: /etc/sluice/read.key }
    static_configs: [{ targets: ["127.0.0.1:4001"] }]
\`\`\`

Labels hold what the configuration names: routes, models, deployments, guardrails, and words of fixed tables. What a client writes is
none: models behind a wildcard are counted under its entry, their deployments as \`provider/*\`. A metric has 1,000 sets of labels at
most; further ones are counted under \`other\`. With several workers every sample carries the label \`worker\`: sum over it. Counters
begin at zero when a process begins.

Names that begin with \`gen_ai_\` are those of OpenTelemetry's conventions for generative models, with underscores for dots.
`;

/** Every metric with its full name. */
export const ALL_METRICS: readonly MetricDescription[] = [
  ...Object.values(REQUEST_METRICS),
  ...Object.values(STATE_METRICS),
  ...Object.values(PROCESS_METRICS),
  ...Object.values(CREW_METRICS),
  { ...REFUSALS, name: `sluice_limits_${REFUSALS.name}` },
  ...["provider", "passthrough"].map((step) => ({ ...CONNECTION_WAITS, name: `sluice_${step}_${CONNECTION_WAITS.name}` })),
];

/** The text of docs/metrics.md. */
export function metricsPage(): string {
  const sections = [
    ["Requests", "Counted behind every reply.", Object.values(REQUEST_METRICS)],
    ["Limits", "Counted by the step `limits`.", ALL_METRICS.filter(({ name }) => name.startsWith("sluice_limits_"))],
    ["Providers", "Counted by the steps that call them.", ALL_METRICS.filter(({ name }) => name.endsWith(CONNECTION_WAITS.name))],
    ["State", "Read when the page is asked for.", Object.values(STATE_METRICS)],
    ["Process", "Of each process.", Object.values(PROCESS_METRICS)],
    ["Workers", "Where several serve, or one is supervised; without the label `worker`.", Object.values(CREW_METRICS)],
  ] as const;
  const parts = sections.map(([title, text, metrics]) => `## ${title}\n\n${text}\n\n${table(metrics)}\n`);
  return `${INTRODUCTION}\n${parts.join("\n")}`;
}

function table(metrics: readonly (MetricDescription | HistogramDescription)[]): string {
  const rows = metrics.map((metric) => [
    `\`${metric.name}\``,
    "buckets" in metric ? "histogram" : metric.name.endsWith("_total") ? "counter" : "gauge",
    (metric.labels ?? []).map((label) => `\`${label}\``).join(" "),
    metric.help,
  ]);
  const head = ["Name", "Kind", "Labels", "What it says"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

if (import.meta.main) writeFileSync(METRICS_PAGE, metricsPage());
