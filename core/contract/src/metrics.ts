/**
 * Metrics: numbers about many requests. Label values come from the configuration or from tables of
 * the gateway, never from a client.
 */

/**
 * The description of a metric. Descriptions with the same name are one metric and must be equal.
 */
export interface MetricDescription {
  /**
   * Lower-case words with underscores; a counter ends in `_total`, a measure in its unit:
   * `_seconds`, `_bytes`.
   */
  readonly name: string;
  /** One sentence for the operator. */
  readonly help: string;
  /**
   * Names of the labels. Their sets of values are small: no keys, prompts or ids that a client
   * chooses.
   */
  readonly labels?: readonly string[];
}

/** The description of a histogram. */
export interface HistogramDescription extends MetricDescription {
  /** Upper bounds, ascending. A last bucket without a bound is added. */
  readonly buckets: readonly number[];
}

/** A sum that only grows. */
export interface Counter {
  /** Adds 1, or the amount. The amount is never negative. */
  add(amount?: number): void;
}

/** A number that goes up and down. */
export interface Gauge {
  set(value: number): void;
}

/** Counts of values below each bound, and the sum of the values. */
export interface Histogram {
  observe(value: number): void;
}

/**
 * A metric without its label values. Call `with` once where the values are known in advance, and
 * keep the result: later updates cost nothing. Beyond 1,000 sets of values, further sets are
 * counted under `other`.
 */
export interface Labelled<T> {
  /**
   * The cell for these values, in the order of the label names. The same values return the same
   * cell.
   */
  with(...values: readonly string[]): T;
}

/**
 * Makes metrics, or returns existing ones: they belong to the process and outlive generations.
 * Throws `Error` for an invalid description.
 */
export interface Metrics {
  counter(description: MetricDescription): Labelled<Counter>;
  gauge(description: MetricDescription): Labelled<Gauge>;
  histogram(description: HistogramDescription): Labelled<Histogram>;
}
