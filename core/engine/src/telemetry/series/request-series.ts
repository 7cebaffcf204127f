/**
 * The requests of the last day, in sums of ten seconds. They are differences of the metrics, read
 * by a timer: a request pays nothing for them.
 */

import type { Clock } from "@sluice/contract";
import type { MetricRegistry } from "../metrics.ts";
import { readTotals, WIDTH } from "./totals.ts";

/** The length of a slot, in milliseconds. */
export const SLOT_MS = 10_000;
/** Slots that are kept: a day. */
const MAX_SLOTS = 8_640;
/** Slots of one chunk: an hour without requests needs no memory. */
const CHUNK = 360;
/** Points of one answer. */
export const MAX_POINTS = 360;

/** Sums by steps of equal length, from one moment on. */
export interface SeriesReading {
  /** The begin of the first step, milliseconds since 1970; a multiple of `stepMs`. */
  readonly fromMs: number;
  readonly stepMs: number;
  /** `WIDTH` numbers for each step. */
  readonly steps: readonly (readonly number[])[];
}

/** Keeps the sums. `close` ends the timer. */
export class RequestSeries {
  readonly #metrics: Pick<MetricRegistry, "readOne">;
  readonly #clock: Pick<Clock, "now">;
  readonly #chunks = new Map<number, Float64Array>();
  readonly #timer: NodeJS.Timeout;
  #last: Float64Array;

  constructor(metrics: Pick<MetricRegistry, "readOne">, clock: Pick<Clock, "now">) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#last = readTotals(metrics);
    this.#timer = setInterval(() => this.#sample(), SLOT_MS);
    this.#timer.unref();
  }

  /** The sums of a span that ends now, in at most 360 steps. */
  read(windowMs: number): SeriesReading {
    this.#sample();
    const perStep = Math.ceil(windowMs / (MAX_POINTS * SLOT_MS));
    const stepMs = perStep * SLOT_MS;
    const lastStep = Math.floor(this.#clock.now() / stepMs);
    const count = Math.min(MAX_POINTS, Math.ceil(windowMs / stepMs));
    const first = lastStep - count + 1;
    const steps = Array.from({ length: count }, (_, index) =>
      this.#sumOf((first + index) * perStep, perStep),
    );
    return { fromMs: first * stepMs, stepMs, steps };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sumOf(slot: number, count: number): readonly number[] {
    const sum = Array.from({ length: WIDTH }, () => 0);
    for (let at = slot; at < slot + count; at++) {
      const chunk = this.#chunks.get(Math.floor(at / CHUNK));
      if (chunk === undefined) continue;
      const from = (at % CHUNK) * WIDTH;
      for (let index = 0; index < WIDTH; index++)
        sum[index] = (sum[index] as number) + (chunk[from + index] as number);
    }
    return sum;
  }

  /** Adds what the metrics have grown by since the last time to the present slot. */
  #sample(): void {
    const totals = readTotals(this.#metrics);
    const before = this.#last;
    this.#last = totals;
    if (totals[0] === before[0] && totals.every((value, index) => value === before[index])) return;
    const slot = Math.floor(this.#clock.now() / SLOT_MS);
    const chunk = this.#chunkOf(Math.floor(slot / CHUNK));
    const from = (slot % CHUNK) * WIDTH;
    for (let index = 0; index < WIDTH; index++)
      chunk[from + index] =
        (chunk[from + index] as number) + ((totals[index] as number) - (before[index] as number));
  }

  #chunkOf(number: number): Float64Array {
    let chunk = this.#chunks.get(number);
    if (chunk !== undefined) return chunk;
    chunk = new Float64Array(CHUNK * WIDTH);
    this.#chunks.set(number, chunk);
    for (const old of this.#chunks.keys())
      if (old < number - MAX_SLOTS / CHUNK) this.#chunks.delete(old);
    return chunk;
  }
}
