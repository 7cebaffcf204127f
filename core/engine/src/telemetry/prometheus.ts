/** Prometheus' text format, version 0.0.4: what `GET /metrics` answers. */

import type { HistogramReading, MetricReading } from "./metrics.ts";

/** The media type of the text. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Writes metrics. A metric that says nothing yet is left out: unknown is not zero. */
export function prometheusText(readings: readonly MetricReading[]): string {
  const blocks = readings.filter(({ samples }) => samples.length > 0).map(blockOf);
  return blocks.join("");
}

/**
 * Puts the pages of several workers together. Every sample gets the label `worker`, and the samples
 * of one metric stand together, as the format wants it.
 */
export function joinPages(pages: ReadonlyMap<string, string>): string {
  const metrics = new Map<string, { readonly head: string[]; readonly samples: string[] }>();
  for (const [worker, page] of pages) {
    let current: { readonly head: string[]; readonly samples: string[] } | undefined;
    let isFirst = false;
    for (const line of page.split("\n")) {
      const help = /^# HELP (\S+)/.exec(line)?.[1];
      if (help !== undefined) {
        isFirst = !metrics.has(help);
        current = metrics.get(help) ?? { head: [], samples: [] };
        metrics.set(help, current);
      }
      if (line.startsWith("#")) {
        if (isFirst) current?.head.push(line);
      } else if (line !== "") {
        current?.samples.push(withLabel(line, `worker="${worker}"`));
      }
    }
  }
  return [...metrics.values()].flatMap(({ head, samples }) => [...head, ...samples, ""]).join("\n");
}

function withLabel(line: string, label: string): string {
  const end = /^[a-z0-9_]+/.exec(line)?.[0].length ?? 0;
  return line[end] === "{"
    ? `${line.slice(0, end)}{${label},${line.slice(end + 1)}`
    : `${line.slice(0, end)}{${label}}${line.slice(end)}`;
}

function blockOf({ description, kind, bounds, samples }: MetricReading): string {
  const { name, help, labels = [] } = description;
  const lines = [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${kind}`];
  for (const sample of samples) {
    const pairs = labels.map(
      (label, index) =>
        `${label}="${escapeText(sample.labels[index] ?? "").replaceAll('"', '\\"')}"`,
    );
    if (typeof sample.value === "number")
      lines.push(`${name}${braced(pairs)} ${numberText(sample.value)}`);
    else lines.push(...histogramLines(name, pairs, bounds, sample.value));
  }
  return `${lines.join("\n")}\n`;
}

function histogramLines(
  name: string,
  pairs: readonly string[],
  bounds: readonly number[],
  reading: HistogramReading,
): string[] {
  let below = 0;
  const buckets = reading.counts.map((count, index) => {
    below += count;
    const bound = bounds[index];
    return `${name}_bucket${braced([...pairs, `le="${bound === undefined ? "+Inf" : numberText(bound)}"`])} ${below}`;
  });
  return [
    ...buckets,
    `${name}_sum${braced(pairs)} ${numberText(reading.sum)}`,
    `${name}_count${braced(pairs)} ${below}`,
  ];
}

function braced(pairs: readonly string[]): string {
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);
}

function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
