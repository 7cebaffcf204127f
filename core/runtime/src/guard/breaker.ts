/**
 * The circuit breaker of a guardrail: after several consecutive failures it is skipped for a time,
 * for one key or for all.
 */

import type { SharedValue } from "@sluice/contract";
import { type Holder, holderOf } from "@sluice/kit/internals";

/** Consecutive failures that open the breaker. */
const FAILURES_TO_OPEN = 5;
/**
 * The minimum of them from other keys than the one with the most. A client chooses its texts, and
 * so its failures.
 */
const FAILURES_OF_OTHERS = 2;
/** The pause before one check tries again. */
export const OPEN_MS = 10_000;
/** Maximum remembered keys and teams. */
const MAX_HOLDERS = 1_000;

const NO_HOLDER = holderOf(undefined);

/** The scope of an opened breaker. */
export type LeftAloneBy = "one key" | "all keys";

/** The failures of a guardrail. All users of the same guardrail may share it. */
export class GuardBreaker implements SharedValue {
  /** Failures since the last success of any key, by key. */
  readonly #ofAll = new Map<string, number>();
  /** Failures of a key since its own last success. */
  readonly #own = new Map<string, number>();
  readonly #openUntilMs = new Map<string, number>();
  #allUntilMs = 0;

  /** Whether the breaker is open for a holder. */
  isOpen(nowMs: number, holder: Holder = NO_HOLDER): boolean {
    return (
      nowMs < this.#allUntilMs ||
      (this.#openUntilMs.size > 0 && nowMs < (this.#openUntilMs.get(nameOf(holder)) ?? 0))
    );
  }

  succeed(holder: Holder = NO_HOLDER): void {
    if (this.#ofAll.size > 0) this.#ofAll.clear();
    if (this.#own.size > 0) this.#own.delete(nameOf(holder));
  }

  /** Counts a failure. Returns the scope for which the breaker opened. */
  fail(nowMs: number, holder: Holder = NO_HOLDER): LeftAloneBy | undefined {
    const name = nameOf(holder);
    const own = count(this.#own, name);
    count(this.#ofAll, name);
    const counts = [...this.#ofAll.values()];
    const total = counts.reduce((sum, failures) => sum + failures, 0);
    if (total >= FAILURES_TO_OPEN && total - Math.max(...counts) >= FAILURES_OF_OTHERS) {
      this.#allUntilMs = nowMs + OPEN_MS;
      return "all keys";
    }
    if (own < FAILURES_TO_OPEN) return undefined;
    put(this.#openUntilMs, name, nowMs + OPEN_MS);
    return "one key";
  }

  close(): void {
    for (const map of [this.#ofAll, this.#own, this.#openUntilMs]) map.clear();
  }
}

/** The keys of a team are one holder. */
function nameOf({ key, team }: Holder): string {
  return team === undefined ? `key:${key}` : `team:${team}`;
}

/** Adds one, up to the bound: a failure after the pause opens the breaker again. */
function count(counts: Map<string, number>, name: string): number {
  const failures = Math.min(FAILURES_TO_OPEN, (counts.get(name) ?? 0) + 1);
  put(counts, name, failures);
  return failures;
}

function put(map: Map<string, number>, name: string, value: number): void {
  map.delete(name);
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > MAX_HOLDERS && oldest !== undefined) map.delete(oldest);
}
