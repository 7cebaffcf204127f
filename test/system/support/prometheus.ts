/** A reader of Prometheus' text format, as strict as Prometheus itself where the tests care. */

/** The samples of one page. */
export interface MetricsPage {
  readonly types: ReadonlyMap<string, string>;
  /**
   * The sum of the samples of a metric that carry all of these labels; `undefined` when there is
   * none.
   */
  sum(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE =
  /^([a-z_][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (NaN|[+-]Inf|-?[0-9.e+-]+)$/;

/**
 * Reads a page. Throws for a line that Prometheus would not take, and for a metric whose samples do
 * not stand together.
 */
export function readMetrics(text: string): MetricsPage {
  if (!text.endsWith("\n")) throw new Error("The last line does not end.");
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  let family = "";
  for (const line of text.split("\n")) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type !== null) {
      family = type[1] ?? "";
      if (types.has(family)) throw new Error(`The metric ${family} stands twice.`);
      types.set(family, type[2] ?? "");
    } else if (line !== "" && !line.startsWith("# HELP ")) {
      const sample = SAMPLE.exec(line);
      if (sample === null || !line.startsWith(family))
        throw new Error(`No sample of ${family}: ${line}`);
      const labels = [...(sample[2] ?? "").matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(
        ([, name = "", value = ""]) => [name, value],
      );
      samples.push({
        name: sample[1] ?? "",
        labels: Object.fromEntries(labels),
        value: Number(sample[3]?.replace("Inf", "Infinity")),
      });
    }
  }
  return {
    types,
    sum(name, labels = {}) {
      const wanted = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      return wanted.length === 0 ? undefined : wanted.reduce((sum, { value }) => sum + value, 0);
    },
  };
}
