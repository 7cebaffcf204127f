/**
 * The reserver: takes reservations in shared state. It seeds a budget that is not known there with
 * the sum of the ledger.
 */

import {
  GatewayError,
  type Host,
  type Identity,
  isGatewayError,
  type Reservation,
  type SharedValue,
  type MaybePromise,
  type TakeResult,
} from "@sluice/contract";
import { waitForAnswer } from "@sluice/kit";
import { NewTags } from "./new-tags.ts";
import type { BudgetRule, Rule } from "./rules/rule.ts";

/**
 * How long the ledger may take, in milliseconds: longer than the bound of the store itself, which
 * may have to start a thread.
 */
const LEDGER_MS = 20_000;

/** Maximum concurrent reads of the ledger. Its own bound is higher, for other callers. */
const MAX_QUESTIONS = 16;
/**
 * The same for customers, whose sums are small. Each waits for the rows that are on their way, and
 * new customers come by the thousand a second.
 */
const MAX_OF_CUSTOMERS = 128;
/** Seeds of one reservation. Shared state that loses a budget more often is faulty. */
const MAX_SEEDS = 5;

/** Questions to the ledger, of which some are under way and the others wait. */
class Questions {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #asking = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs a question when fewer than the maximum are under way. */
  async queued<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#asking >= this.#max) await this.#wait();
    else this.#asking += 1;
    try {
      return await ask();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#asking -= 1;
      else next();
    }
  }

  /** Waits in the queue. Rejects after `LEDGER_MS`; the question then leaves the queue. */
  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        endWait();
        resolve();
      };
      const endWait = waitForAnswer(LEDGER_MS, () => {
        this.#waiting.splice(this.#waiting.indexOf(admit), 1);
        reject(new Error("The ledger has too many questions."));
      });
      this.#waiting.push(admit);
    });
  }
}

/**
 * Questions to the ledger that are under way, by budget key. All pipelines share them: concurrent
 * requests ask once, and a start with a thousand budgets does not ask them all at once.
 */
class Seeding implements SharedValue {
  readonly byKey = new Map<string, Promise<void>>();
  readonly newTags = new NewTags();
  readonly #questions = new Questions(MAX_QUESTIONS);
  readonly #ofCustomers = new Questions(MAX_OF_CUSTOMERS);

  /** The queue of a budget: a flood of customers delays no other owner. */
  questionsOf({ rows }: BudgetRule): Questions {
    return rows.endUser === undefined ? this.#questions : this.#ofCustomers;
  }

  close(): void {
    this.byKey.clear();
  }
}

/** Takes the reservations of a process. */
export class Reserver {
  readonly #host: Host;
  readonly #seeding: Seeding;

  constructor(host: Host) {
    this.#host = host;
    this.#seeding = host.shared("limits-seeding", () => new Seeding());
  }

  /**
   * All claims or none. Throws or rejects with `overloaded` when a budget is not known and the
   * ledger cannot be read, with `rate_limited` when the identity names too many new tags.
   */
  take(
    reservation: Reservation,
    rules: readonly Rule[],
    leaseMs: number,
    identity?: Identity,
  ): MaybePromise<TakeResult> {
    const result = this.#host.state.take(reservation, leaseMs);
    if (result instanceof Promise) {
      return result.then((later) =>
        later.outcome === "unseeded"
          ? this.#seedAndTake(reservation, rules, leaseMs, later.keys, identity)
          : later,
      );
    }
    return result.outcome === "unseeded"
      ? this.#seedAndTake(reservation, rules, leaseMs, result.keys, identity)
      : result;
  }

  async #seedAndTake(
    reservation: Reservation,
    rules: readonly Rule[],
    leaseMs: number,
    unknown: readonly string[],
    identity: Identity | undefined,
  ): Promise<TakeResult> {
    this.#seeding.newTags.check(identity, unknown, rules, this.#host.clock.monotonic());
    let keys = unknown;
    for (let seeds = 0; seeds < MAX_SEEDS; seeds += 1) {
      const [failure] = await this.#seedAll(keys, rules);
      // A budget that was to be read again is decided by its counter where the ledger is away.
      const result = await this.#host.state.take(reservation, leaseMs);
      if (result.outcome !== "unseeded") return result;
      if (failure !== undefined) throw failure;
      keys = result.keys;
    }
    throw unreadable(undefined);
  }

  /** Seeds budgets. Returns why some of them could not be seeded. */
  async #seedAll(keys: readonly string[], rules: readonly Rule[]): Promise<readonly unknown[]> {
    const results = await Promise.allSettled(keys.map((key) => this.#seed(key, rules)));
    return results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  }

  #seed(key: string, rules: readonly Rule[]): Promise<void> {
    const { byKey } = this.#seeding;
    let seeding = byKey.get(key);
    if (seeding === undefined) {
      seeding = this.#ask(key, rules).finally(() => byKey.delete(key));
      byKey.set(key, seeding);
    }
    return seeding;
  }

  async #ask(key: string, rules: readonly Rule[]): Promise<void> {
    const rule = rules.find((candidate) => candidate.kind === "budget" && candidate.key === key);
    if (rule?.kind !== "budget")
      throw new GatewayError("internal_error", "No rule defines the requested budget.");
    const { clock } = this.#host;
    let [spent, askedMs] = [0, clock.monotonic()];
    try {
      spent = await this.#seeding.questionsOf(rule).queued(() => {
        askedMs = clock.monotonic();
        return this.#spent(rule);
      });
    } catch (cause) {
      throw isGatewayError(cause) && cause.code === "overloaded" ? cause : unreadable(cause);
    }
    const readMs = clock.monotonic() - askedMs;
    await this.#host.state.seed(key, spent, { group: rule.group, readMs });
  }

  async #spent({ rows, moreRows, importedNanoUsd }: BudgetRule): Promise<number> {
    const controller = new AbortController();
    const endWait = waitForAnswer(LEDGER_MS, () =>
      controller.abort(new DOMException("The ledger did not answer.", "TimeoutError")),
    );
    try {
      const { ledger } = this.#host;
      const more = moreRows === undefined ? 0 : await ledger.spent(moreRows, controller.signal);
      return importedNanoUsd + more + (await ledger.spent(rows, controller.signal));
    } finally {
      endWait();
    }
  }
}

function unreadable(cause: unknown): GatewayError {
  return new GatewayError(
    "overloaded",
    "The gateway cannot read the spend now. Retry after the time in retry-after.",
    {
      cause,
      retryAfterMs: 5_000,
    },
  );
}
