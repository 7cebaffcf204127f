/** Metrics: numbers about many requests. Labels come from the configuration or from tables of the house, never from a client. */

/** What one metric is. Equal names are one metric, whoever asks, and must say the same. */
export interface MetricDescription {
  /** Lower-case words with underscores; a counter ends in `_total`, a measure in its unit: `_seconds`, `_bytes`. */
  readonly name: string;
  /** One sentence, for people. */
  readonly help: string;
  /** Names of the labels. Their values are few: no keys, no prompts, no ids that a client makes. */
  readonly labels?: readonly string[];
}

/** What a histogram is. */
export interface HistogramDescription extends MetricDescription {
  /** Upper bounds, rising. A last bucket without a bound is added. */
  readonly buckets: readonly number[];
}

/** A sum that only grows. */
export interface Counter {
  /** Adds 1, or so much. Never a negative number. */
  add(amount?: number): void;
}

/** A number that goes up and down. */
export interface Gauge {
  set(value: number): void;
}

/** How often values fell below each of some bounds, and their sum. */
export interface Histogram {
  observe(value: number): void;
}

/**
 * A metric with its labels still to be said. Ask once where the values are known beforehand, and keep what comes back: that costs
 * nothing later. Beyond 1,000 sets of values all further ones are counted under `other`.
 */
export interface Labelled<T> {
  /** The cell of these values, in the order of the label names; the same cell for the same values. */
  with(...values: readonly string[]): T;
}

/** Makes metrics, or finds them: they belong to the process and outlive generations. Throws `Error` for a description that is wrong. */
export interface Metrics {
  counter(description: MetricDescription): Labelled<Counter>;
  gauge(description: MetricDescription): Labelled<Gauge>;
  histogram(description: HistogramDescription): Labelled<Histogram>;
}
