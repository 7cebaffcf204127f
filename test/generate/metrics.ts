/** Writes docs/metrics.md from the tables of metrics: `node test/generate/metrics.ts`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HistogramDescription, MetricDescription } from "@sluice/contract";
import {
  WORKER_METRICS,
  PROCESS_METRICS,
  REQUEST_METRICS,
  STATE_METRICS,
} from "../../core/engine/src/telemetry/metric-table.ts";
import { BUDGET_LEFT, BUDGET_MAX } from "../../plugins/standard/src/limits/budget-gauges.ts";
import { REFUSALS } from "../../plugins/standard/src/limits/refusal.ts";
import { RUNNING } from "../../plugins/standard/src/responses/detached/runs.ts";
import { CONNECTION_WAITS } from "../../plugins/standard/src/provider/upstreams.ts";

/** Where the page is. */
export const METRICS_PAGE = join(import.meta.dirname, "../../docs/metrics.md");

const INTRODUCTION = `# Metrics

<!-- Made by \`node test/generate/metrics.ts\` from core/engine/src/telemetry/metric-table.ts and the steps. Do not edit. -->

\`GET /metrics\` on the admin listener answers in Prometheus' text format. It accepts the master key, and the key in
\`server.admin.read_key\`, which reads metrics and status only:

\`\`\`yaml
scrape_configs:
  - job_name: sluice
    authorization: { credentials_file: /etc/sluice/read.key }
    static_configs: [{ targets: ["127.0.0.1:4001"] }]
\`\`\`

Label values are names of the configuration (routes, models, deployments, guardrails) and words of fixed tables. Text from clients is
never a label: models behind a wildcard count under its entry, and their deployments as \`provider/*\`. A metric has at most 1,000 label
sets; further ones count under \`other\`. With several workers every sample has the label \`worker\`: sum over it. Counters start at zero
with each process.

Names that begin with \`gen_ai_\` follow OpenTelemetry's conventions for generative models, with underscores for dots.
`;

/** Every metric with its full name. */
export const ALL_METRICS: readonly MetricDescription[] = [
  ...Object.values(REQUEST_METRICS),
  ...Object.values(STATE_METRICS),
  ...Object.values(PROCESS_METRICS),
  ...Object.values(WORKER_METRICS),
  ...[REFUSALS, BUDGET_LEFT, BUDGET_MAX].map((metric) => ({
    ...metric,
    name: `sluice_limits_${metric.name}`,
  })),
  { ...RUNNING, name: `sluice_responses_${RUNNING.name}` },
  ...["provider", "passthrough"].map((step) => ({
    ...CONNECTION_WAITS,
    name: `sluice_${step}_${CONNECTION_WAITS.name}`,
  })),
];

/** The text of docs/metrics.md. */
export function metricsPage(): string {
  const sections = [
    ["Requests", "Counted after every reply.", Object.values(REQUEST_METRICS)],
    [
      "Limits",
      "Counted by the step `limits`.",
      ALL_METRICS.filter(({ name }) => name.startsWith("sluice_limits_")),
    ],
    [
      "Responses in the background",
      "Of the step `responses`.",
      ALL_METRICS.filter(({ name }) => name.startsWith("sluice_responses_")),
    ],
    [
      "Providers",
      "Counted by the steps that call providers.",
      ALL_METRICS.filter(({ name }) => name.endsWith(CONNECTION_WAITS.name)),
    ],
    ["State", "Read at each scrape.", Object.values(STATE_METRICS)],
    ["Process", "Of each process.", Object.values(PROCESS_METRICS)],
    [
      "Workers",
      "Present with several workers, or one supervised worker; without the label `worker`.",
      Object.values(WORKER_METRICS),
    ],
  ] as const;
  const parts = sections.map(
    ([title, text, metrics]) => `## ${title}\n\n${text}\n\n${table(metrics)}\n`,
  );
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
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

if (import.meta.main) writeFileSync(METRICS_PAGE, metricsPage());
