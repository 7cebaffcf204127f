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
 * the same time. A server in a new life has lost what was written last: this process goes on alone
 * for a while, until the rows of all processes are in the ledger, from which budgets are read.
 */

import {
  errorMessage,
  GatewayError,
  isGatewayError,
  type Log,
  type Reservation,
  type MaybePromise,
  type StateCache,
  type StateDriver,
  type StateRecords,
  type TakeResult,
} from "@sluice/contract";
import { type AloneMark, AloneTime, NO_MARK } from "./alone-mark.ts";
import { Beats } from "./beats.ts";
import { Fallback, type FallbackOptions } from "./fallback.ts";
import { Lives } from "./lives.ts";
import { Notice } from "./notice.ts";
import { Probes, reach } from "./probes.ts";

/** The dependencies of resilient state: in the state degraded it admits its part of a limit. */
export interface ResilientOptions extends FallbackOptions {
  readonly log: Log;
  /** Absent: no earlier process of this gateway is known. */
  readonly mark?: AloneMark;
}

type State = "connected" | "degraded" | "recovering" | "stopped";

/**
 * Shared state whose calls do not fail. Settlements are kept while the server is away and sent
 * first when it is back.
 */
export function createResilientState(options: ResilientOptions): StateDriver {
  const { driver } = options;
  const server = new ResilientServer(options);
  const { fallback, ask } = server;
  return {
    isRemote: true,
    get isAway() {
      return server.isAway;
    },
    get refusesBudgetsSinceMs() {
      return server.isAway ? (server.notice.refusesSinceMs ?? fallback.unreadSinceMs) : undefined;
    },
    start: (signal) => server.start(signal),
    stop: () => server.stop(),
    take: (reservation, leaseMs) => server.take(reservation, leaseMs),
    ...resilientCounters(driver, fallback, ask),
    cache: resilientCache(driver.cache, ask),
    records: resilientRecords(driver.records, fallback, ask),
  };
}

class ResilientServer {
  /** Asks the server while it decides, otherwise this process. */
  readonly ask: Ask;
  readonly fallback: Fallback;
  readonly #options: ResilientOptions;
  readonly #driver: StateDriver;
  #state: State = "connected";
  #degradedSinceMs = 0;
  readonly #probes = new Probes(() => this.#probe());
  readonly #beats: Beats;
  readonly #lives: Lives;
  readonly notice = new Notice();
  readonly #alone: AloneTime;

  constructor(options: ResilientOptions) {
    const { driver, instances, clock, mark = NO_MARK } = options;
    this.#options = options;
    this.#alone = new AloneTime(mark);
    this.#driver = driver;
    this.ask = (remote, local) => (this.isAway ? local() : this.#askDriver(remote, local));
    this.fallback = new Fallback(options);
    this.#beats = new Beats({
      driver,
      instances,
      isSuccessor: mark.wasLeft,
      hasOldRows: oldRows(options),
      onReport: () => {
        this.notice.known();
        this.#alone.reported();
      },
      onFailure: (error) => this.#degrade(error),
    });
    this.#lives = new Lives(driver, clock);
  }

  get isAway(): boolean {
    return this.#state !== "connected";
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#driver.watch?.((reason) => this.#degrade(reason));
    try {
      await this.#driver.start(signal);
      this.#lives.accept();
      await this.#beats.report();
      this.#beats.start();
    } catch (error) {
      this.#degrade(error);
    }
  }

  async stop(): Promise<void> {
    this.#state = "stopped";
    this.#probes.stop();
    this.#beats.stop();
    this.notice.end();
    await this.#driver.stop();
  }

  take(reservation: Reservation, leaseMs: number): MaybePromise<TakeResult> {
    if (!this.isAway) return this.#takeShared(reservation, leaseMs);
    const noticed = this.notice.waitFor(reservation);
    return noticed === undefined
      ? this.fallback.take(reservation, leaseMs)
      : noticed.then(() => this.take(reservation, leaseMs));
  }

  async #askDriver<T>(remote: () => MaybePromise<T>, local: () => T): Promise<T> {
    try {
      const answer = await remote();
      if (this.#state === "connected") this.#probes.succeeded();
      return answer;
    } catch (error) {
      // A refusal of the driver: its server decides all the same.
      if (isGatewayError(error)) throw error;
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
      // The server knows the reservation by its id, whether it has taken it or not.
      await this.notice.waitFor(reservation);
      return this.isAway
        ? this.fallback.takeUncertain(reservation, leaseMs)
        : this.#takeShared(reservation, leaseMs);
    }
    if (this.#state === "connected") this.#probes.succeeded();
    if (result.outcome === "granted") this.fallback.adopt(reservation, leaseMs, result.states);
    return result;
  }

  #degrade(error: unknown): void {
    this.#probes.failed();
    if (this.#state !== "connected") return;
    this.#beats.stop();
    const { clock, instances, log } = this.#options;
    this.#state = "degraded";
    this.#degradedSinceMs = clock.monotonic();
    if (instances > 1) this.#alone.begin();
    this.fallback.begin();
    if (instances > 1 && this.#driver.beat !== undefined) this.notice.begin(this.#degradedSinceMs);
    log.warn("shared state is away: this gateway decides alone", {
      reason: errorMessage(error),
      share: `1/${instances}`,
    });
    this.#probes.later();
  }

  async #probe(): Promise<void> {
    try {
      await reach(this.#driver);
      const waitMs = this.#lives.waitMs();
      if (waitMs > 0) return this.#state === "degraded" ? this.#probes.later(waitMs) : undefined;
      if (this.#state === "degraded") this.#state = "recovering";
      await this.fallback.catchUp();
      await this.#beats.report();
    } catch {
      this.#probes.failed();
      if (this.#state === "stopped") return;
      this.#state = "degraded";
      this.#probes.later();
      return;
    }
    if (this.#state !== "stopped") this.#recover();
  }

  #recover(): void {
    const { clock, log } = this.#options;
    this.#state = "connected";
    this.#probes.succeeded();
    this.#lives.accept();
    log.info("shared state is back", {
      away_ms: Math.round(clock.monotonic() - this.#degradedSinceMs),
      settlements_lost: this.fallback.takeDropped(),
    });
    // Settlements since `catchUp` precede every later decision, on the same connection.
    this.fallback.flush().then(
      () => this.#alone.flushed(),
      (error: unknown) => this.#degrade(error),
    );
    this.notice.end();
    this.#beats.start();
  }
}

/** Whether rows that an earlier process left are on their way to the ledger. */
function oldRows({ clock, ledgerLagMs = () => 0 }: ResilientOptions): () => boolean {
  const startedMs = clock.monotonic();
  return () => {
    const lagMs = ledgerLagMs();
    return lagMs > 0 && lagMs >= clock.monotonic() - startedMs;
  };
}

/** Asks the server, or this process where the server is away or fails now. */
type Ask = <T>(remote: () => MaybePromise<T>, local: () => T) => MaybePromise<T>;

function doNothing(): void {}

function resilientCounters(
  driver: StateDriver,
  fallback: Fallback,
  ask: Ask,
): Pick<StateDriver, "settle" | "renew" | "seed" | "read" | "reset"> {
  return {
    settle(reservation) {
      fallback.settle(reservation);
      return ask(
        () => driver.settle(reservation),
        () => fallback.keep(reservation),
      );
    },
    renew(reservations, leaseMs) {
      fallback.renew(reservations, leaseMs);
      return ask(() => driver.renew(reservations, leaseMs), doNothing);
    },
    seed: (key, spentNanoUsd, more) =>
      ask(
        () => fallback.seedServer(key, spentNanoUsd, more),
        () => fallback.seed(key, spentNanoUsd),
      ),
    read: (keys, group) =>
      ask(
        () => driver.read(keys, group),
        () => fallback.read(keys),
      ),
    reset(key, group) {
      fallback.reset(key);
      return ask(() => driver.reset(key, group), doNothing);
    },
  };
}

/** What another gateway stored may be there, and this one cannot say. */
function refuseEntry(): never {
  throw new GatewayError(
    "overloaded",
    "The shared state is not reached now. Retry after the time in retry-after.",
    { retryAfterMs: 1_000 },
  );
}

function resilientCache(cache: StateCache, ask: Ask): StateCache {
  return {
    get: (key, use) =>
      ask(
        () => cache.get(key, use),
        () => (use === "needed" ? refuseEntry() : undefined),
      ),
    set: (key, bytes, ttlMs, holder, bounds) =>
      ask(
        () => cache.set(key, bytes, ttlMs, holder, bounds),
        () => false,
      ),
    delete: (key) => ask(() => cache.delete(key), refuseEntry),
    purge: (prefix) =>
      ask(
        () => cache.purge(prefix),
        () => 0,
      ),
  };
}

function resilientRecords(
  records: StateRecords,
  { records: local }: Pick<Fallback, "records">,
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
