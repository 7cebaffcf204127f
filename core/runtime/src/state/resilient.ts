/**
 * Shared state behind a socket that fails no request. It is in one of four states:
 *
 *    connected ─ a call fails ─► degraded ─ a probe writes ─► recovering ─ all is sent ─► connected
 *                                   ▲                             │
 *                                   └─────── a call fails ────────┘
 *    each of them ── stop ──► stopped
 *
 * Only in the state connected the server decides. In the others this process decides by its
 * fallback, so that no request waits for a server that is dead or slow and no two places decide at
 * the same time.
 */

import {
  errorMessage,
  type Clock,
  type Log,
  type Reservation,
  type MaybePromise,
  type SeedOptions,
  type StateCache,
  type StateDriver,
  type StateGroup,
  type StateRecords,
  type TakeResult,
} from "@sluice/contract";
import { Fallback } from "./fallback.ts";

/** The dependencies of resilient state. */
export interface ResilientOptions {
  readonly driver: StateDriver;
  /** How many gateways share it: in the state degraded each admits this part of a limit. */
  readonly instances: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Consecutive failures after which probes are rare. */
const FAILURES_TO_OPEN = 5;
/** Pauses between probes, before and after that; by chance up to a quarter more or less. */
const SHORT_PAUSE_MS = 250;
const LONG_PAUSE_MS = 10_000;

type State = "connected" | "degraded" | "recovering" | "stopped";

/**
 * Shared state whose calls do not fail. Settlements are kept while the server is away and sent
 * first when it is back.
 */
export function createResilientState(options: ResilientOptions): StateDriver {
  return new ResilientState(options);
}

class ResilientState implements StateDriver {
  readonly cache: StateCache;
  readonly records: StateRecords;
  readonly #options: ResilientOptions;
  readonly #driver: StateDriver;
  readonly #fallback: Fallback;
  #state: State = "connected";
  #failures = 0;
  #degradedSinceMs = 0;
  #pause: NodeJS.Timeout | undefined;

  constructor(options: ResilientOptions) {
    const { driver, instances, clock } = options;
    this.#options = options;
    this.#driver = driver;
    this.#fallback = new Fallback(driver, instances, clock);
    this.cache = resilientCache(driver.cache, this.#ask);
    this.records = resilientRecords(driver.records, this.#fallback, this.#ask);
  }

  get isAway(): boolean {
    return this.#state !== "connected";
  }

  async start(signal: AbortSignal): Promise<void> {
    try {
      await this.#driver.start(signal);
    } catch (error) {
      this.#degrade(error);
    }
  }

  async stop(): Promise<void> {
    this.#state = "stopped";
    clearTimeout(this.#pause);
    await this.#driver.stop();
  }

  take(reservation: Reservation, leaseMs: number): MaybePromise<TakeResult> {
    return this.isAway
      ? this.#fallback.take(reservation, leaseMs)
      : this.#takeShared(reservation, leaseMs);
  }

  settle(reservation: Reservation): MaybePromise<void> {
    this.#fallback.settle(reservation);
    return this.#ask(
      () => this.#driver.settle(reservation),
      () => this.#fallback.keep(reservation),
    );
  }

  renew(reservations: readonly Reservation[], leaseMs: number): MaybePromise<void> {
    this.#fallback.renew(reservations, leaseMs);
    return this.#ask(() => this.#driver.renew(reservations, leaseMs), doNothing);
  }

  seed(key: string, spentNanoUsd: number, options?: SeedOptions): MaybePromise<void> {
    return this.#ask(
      () => this.#fallback.seedServer(key, spentNanoUsd, options),
      () => this.#fallback.seed(key, spentNanoUsd),
    );
  }

  read(keys: readonly string[], group?: StateGroup): ReturnType<StateDriver["read"]> {
    return this.#ask(
      () => this.#driver.read(keys, group),
      () => this.#fallback.read(keys),
    );
  }

  reset(key: string, group?: StateGroup): MaybePromise<void> {
    this.#fallback.reset(key);
    return this.#ask(() => this.#driver.reset(key, group), doNothing);
  }

  readonly #ask: Ask = (remote, local) => (this.isAway ? local() : this.#askDriver(remote, local));

  async #askDriver<T>(remote: () => MaybePromise<T>, local: () => T): Promise<T> {
    try {
      const answer = await remote();
      if (this.#state === "connected") this.#failures = 0;
      return answer;
    } catch (error) {
      this.#degrade(error);
      return local();
    }
  }

  async #takeShared(reservation: Reservation, leaseMs: number): Promise<TakeResult> {
    let result: TakeResult;
    try {
      result = await this.#driver.take(reservation, leaseMs);
    } catch (error) {
      this.#degrade(error);
      return this.#fallback.takeUncertain(reservation, leaseMs);
    }
    if (this.#state === "connected") this.#failures = 0;
    if (result.outcome === "granted") this.#fallback.adopt(reservation, leaseMs);
    return result;
  }

  #degrade(error: unknown): void {
    this.#failures += 1;
    if (this.#state !== "connected") return;
    const { clock, instances, log } = this.#options;
    this.#state = "degraded";
    this.#degradedSinceMs = clock.monotonic();
    this.#fallback.begin();
    log.warn("shared state is away: this gateway decides alone", {
      reason: errorMessage(error),
      share: `1/${instances}`,
    });
    this.#probeLater();
  }

  #probeLater(): void {
    this.#pause = setTimeout(() => void this.#probe(), probePauseMs(this.#failures));
    this.#pause.unref();
  }

  async #probe(): Promise<void> {
    try {
      // A write: a replica answers reads.
      await this.#driver.cache.set("probe", Uint8Array.of(1), 1_000);
      if (this.#state === "degraded") this.#state = "recovering";
      await this.#fallback.catchUp();
    } catch {
      this.#failures += 1;
      if (this.#state === "stopped") return;
      this.#state = "degraded";
      this.#probeLater();
      return;
    }
    if (this.#state !== "stopped") this.#recover();
  }

  #recover(): void {
    const { clock, log } = this.#options;
    this.#state = "connected";
    this.#failures = 0;
    log.info("shared state is back", {
      away_ms: Math.round(clock.monotonic() - this.#degradedSinceMs),
      settlements_lost: this.#fallback.takeDropped(),
    });
    // Settlements since `catchUp` precede every later decision, on the same connection.
    this.#fallback.flush().catch((error: unknown) => this.#degrade(error));
  }
}

function probePauseMs(failures: number): number {
  const pauseMs = failures < FAILURES_TO_OPEN ? SHORT_PAUSE_MS : LONG_PAUSE_MS;
  return pauseMs * (0.75 + Math.random() / 2);
}

/** Asks the server, or this process where the server is away or fails now. */
type Ask = <T>(remote: () => MaybePromise<T>, local: () => T) => MaybePromise<T>;

function doNothing(): void {}

function resilientCache(cache: StateCache, ask: Ask): StateCache {
  return {
    get: (key) =>
      ask(
        () => cache.get(key),
        () => undefined,
      ),
    set: (key, bytes, ttlMs, holder, bounds) =>
      ask(
        () => cache.set(key, bytes, ttlMs, holder, bounds),
        () => false,
      ),
    delete: (key) => ask(() => cache.delete(key), doNothing),
    purge: (prefix) =>
      ask(
        () => cache.purge(prefix),
        () => 0,
      ),
  };
}

function resilientRecords(
  records: StateRecords,
  { records: local }: Fallback,
  ask: Ask,
): StateRecords {
  return {
    begin: (key, bodyDigest, owner, leaseMs) =>
      ask(
        () => records.begin(key, bodyDigest, owner, leaseMs),
        () => local.begin(key, bodyDigest, owner, leaseMs),
      ),
    complete(key, owner, bytes, ttlMs) {
      // A record that began in the state degraded is known in this process alone.
      if (local.complete(key, owner, bytes, ttlMs)) return true;
      return ask(
        () => records.complete(key, owner, bytes, ttlMs),
        () => false,
      );
    },
    abandon(key, owner) {
      local.abandon(key, owner);
      return ask(() => records.abandon(key, owner), doNothing);
    },
  };
}
