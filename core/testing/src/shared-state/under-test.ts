/** What the suite of shared state runs with, and against. */

import type { SharedState } from "@sluice/contract";

/** The functions of the test runner. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
  readonly expect: (value: unknown) => Matchers;
}

/** What the suite asks of values, as vitest has it. */
export interface Matchers {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  toBeUndefined(): void;
  toHaveLength(expected: number): void;
  toBeGreaterThan(expected: number): void;
  toBeLessThanOrEqual(expected: number): void;
}

/** A driver under test. */
export interface StateUnderTest {
  readonly state: SharedState;
  /** Another client of the same state; the same object where there is but one. */
  readonly second: SharedState;
  /** Lets so much of the driver's time pass. */
  wait(ms: number): Promise<void>;
  /** Bytes that are too many for one entry. */
  readonly tooManyBytes: number;
}

/** The driver, made by the first test that asks for it. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
