/** The registry of metrics. The hot path adds to cells; a scrape reads them. */

import type {
  Counter,
  Gauge,
  Histogram,
  HistogramDescription,
  Labelled,
  Log,
  MetricDescription,
  Metrics,
} from "@sluice/contract";

/**
 * Sets of label values of one metric. What comes beyond is counted under `other`: a scrape has a
 * bounded size.
 */
const MAX_CELLS = 1_000;
const OTHER = "other";
const NAME = /^[a-z][a-z0-9_]*$/;

/** The kinds of Prometheus' text format that the house uses. */
export type MetricKind = "counter" | "gauge" | "histogram";

/** A number that a look finds, with its label values. */
export type Sample = readonly [value: number, ...labels: string[]];

/** Reads one metric when the page is asked for. An unknown number is left out. */
export type Look = () => Iterable<Sample>;

/** The values of one histogram. */
export interface HistogramReading {
  /** How many values fell into each bucket alone; one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** One metric with all that it says at the moment. */
export interface MetricReading {
  readonly description: MetricDescription;
  readonly kind: MetricKind;
  readonly bounds: readonly number[];
  readonly samples: readonly {
    readonly labels: readonly string[];
    readonly value: number | HistogramReading;
  }[];
}

/** Metrics as the engine sees them. */
export interface MetricRegistry extends Metrics {
  /**
   * Adds a metric whose numbers are found by looking, and cost nothing until then. A look that
   * throws says nothing.
   */
  observe(kind: "counter" | "gauge", description: MetricDescription, look: Look): void;
  /** All metrics, by their names. */
  read(): readonly MetricReading[];
  /** One metric by its name; `undefined` while there is none. */
  readOne(name: string): MetricReading | undefined;
}

interface Entry {
  readonly kind: MetricKind;
  readonly description: MetricDescription;
  readonly bounds: readonly number[];
  readonly cells: Cells<Cell>;
  readonly look: Look | undefined;
}

/** Makes an empty registry. */
export function createMetrics(log: Log): MetricRegistry {
  const entries = new Map<string, Entry>();

  const find = (
    kind: MetricKind,
    description: MetricDescription,
    bounds: readonly number[],
    look?: Look,
  ): Entry => {
    const known = entries.get(description.name);
    if (known !== undefined) {
      if (look !== undefined || !isSame(known, kind, description, bounds)) {
        throw new Error(`The metric ${description.name} already exists with another description.`);
      }
      return known;
    }
    check(kind, description, bounds);
    const width = description.labels?.length ?? 0;
    const make = kind === "histogram" ? () => new HistogramCell(bounds) : () => new NumberCell();
    const onFull = (): void => {
      log.warn("a metric has too many label sets: new ones are counted under other", {
        metric: description.name,
      });
    };
    const entry = {
      kind,
      description,
      bounds,
      cells: new Cells<Cell>(description.name, width, make, onFull),
      look,
    };
    entries.set(description.name, entry);
    // What has no labels stands on the page from the start, at zero.
    if (width === 0 && look === undefined) entry.cells.with();
    return entry;
  };

  return {
    counter: (description) => find("counter", description, []).cells as Labelled<Counter>,
    gauge: (description) => find("gauge", description, []).cells as Labelled<Gauge>,
    histogram: (description) =>
      find("histogram", description, description.buckets).cells as Labelled<Histogram>,
    observe: (kind, description, look) => void find(kind, description, [], look),
    read: () =>
      [...entries.values()]
        .toSorted((a, b) => (a.description.name < b.description.name ? -1 : 1))
        .map((entry) => readingOf(entry, log)),
    readOne(name) {
      const entry = entries.get(name);
      return entry && readingOf(entry, log);
    },
  };
}

function readingOf({ kind, description, bounds, cells, look }: Entry, log: Log): MetricReading {
  const samples = look === undefined ? cells.read() : lookSafely(look, description.name, log);
  return { kind, description, bounds, samples };
}

/** Metrics of one plugin: its name stands before each of theirs. */
export function pluginMetrics(metrics: Metrics, plugin: string): Metrics {
  const named = <T extends MetricDescription>(description: T): T => ({
    ...description,
    name: `sluice_${plugin.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")}_${description.name}`,
  });
  return {
    counter: (description) => metrics.counter(named(description)),
    gauge: (description) => metrics.gauge(named(description)),
    histogram: (description: HistogramDescription) => metrics.histogram(named(description)),
  };
}

type Cell = NumberCell | HistogramCell;

class NumberCell implements Counter, Gauge {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }

  set(value: number): void {
    this.value = value;
  }

  read(): number {
    return this.value;
  }
}

class HistogramCell implements Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] as number)) index++;
    this.#counts[index] = (this.#counts[index] as number) + 1;
    this.#sum += value;
  }

  read(): HistogramReading {
    return { counts: this.#counts.slice(), sum: this.#sum };
  }
}

type Branch<T> = Map<string, Branch<T> | T>;

/**
 * Cells in a tree of maps, one level a label: a search makes no new text, so that the hot path may
 * do it.
 */
class Cells<T extends Cell> implements Labelled<T> {
  readonly #name: string;
  readonly #width: number;
  readonly #make: () => T;
  readonly #onFull: () => void;
  readonly #root: Branch<T> = new Map();
  readonly #all: { readonly labels: readonly string[]; readonly cell: T }[] = [];
  #other: T | undefined;

  constructor(name: string, width: number, make: () => T, onFull: () => void) {
    this.#name = name;
    this.#width = width;
    this.#make = make;
    this.#onFull = onFull;
  }

  with(...values: readonly string[]): T {
    if (values.length !== this.#width)
      throw new Error(`The metric ${this.#name} has ${this.#width} labels.`);
    let branch = this.#root;
    for (let level = 0; level < values.length - 1; level++) {
      const next = branch.get(values[level] as string) as Branch<T> | undefined;
      if (next === undefined) return this.#add(values);
      branch = next;
    }
    return (branch.get(values[values.length - 1] ?? "") as T | undefined) ?? this.#add(values);
  }

  read(): { readonly labels: readonly string[]; readonly value: number | HistogramReading }[] {
    return this.#all.map(({ labels, cell }) => ({ labels, value: cell.read() }));
  }

  #add(values: readonly string[]): T {
    if (this.#other !== undefined) return this.#other;
    const cell = this.#make();
    if (this.#all.length >= MAX_CELLS) {
      this.#onFull();
      this.#other = cell;
      this.#all.push({ labels: values.map(() => OTHER), cell });
      return cell;
    }
    this.#all.push({ labels: [...values], cell });
    let branch = this.#root;
    for (const value of values.slice(0, -1)) {
      const next = (branch.get(value) as Branch<T> | undefined) ?? new Map<string, Branch<T> | T>();
      branch.set(value, next);
      branch = next;
    }
    branch.set(values.at(-1) ?? "", cell);
    return cell;
  }
}

function lookSafely(look: Look, name: string, log: Log): MetricReading["samples"] {
  try {
    return Array.from(look(), ([value, ...labels]) => ({ labels, value })).slice(0, MAX_CELLS);
  } catch (error) {
    log.warn("a metric could not be read", { metric: name, error });
    return [];
  }
}

function isSame(
  known: Entry,
  kind: MetricKind,
  { help, labels = [] }: MetricDescription,
  bounds: readonly number[],
): boolean {
  const { description } = known;
  const said = [
    known.kind,
    known.look === undefined,
    description.help,
    description.labels ?? [],
    known.bounds,
  ];
  return JSON.stringify(said) === JSON.stringify([kind, true, help, labels, bounds]);
}

function check(
  kind: MetricKind,
  { name, help, labels = [] }: MetricDescription,
  bounds: readonly number[],
): void {
  const fault = !NAME.test(name)
    ? "has lower-case letters, digits and underscores in its name"
    : (kind === "counter") !== name.endsWith("_total")
      ? "ends in _total if it is a counter, and only then"
      : help === ""
        ? "says in a sentence what it is"
        : labels.some((label) => !NAME.test(label) || label === "le") ||
            new Set(labels).size < labels.length
          ? "has labels of lower-case letters, digits and underscores, each once, and none called le"
          : bounds.some((bound, index) => index > 0 && bound <= (bounds[index - 1] ?? 0))
            ? "has buckets whose bounds rise"
            : undefined;
  if (fault !== undefined) throw new Error(`The metric ${name} is wrong: a metric ${fault}.`);
}
