/**
 * Shared state: values that several requests and processes share. Windows, slots, budgets, cache,
 * idempotency records.
 */

/**
 * A value, or a promise of it. A driver in the process answers synchronously, a driver behind a
 * socket later. The hot path awaits promises only.
 */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Counters that are decided in one step. A driver over several servers keeps each group on one of
 * them, and asks the groups of a reservation one after the other.
 */
export interface StateGroup {
  /** Unique, and always the same for a counter. */
  readonly name: string;
  /**
   * Lower ones are asked first. It is the same in all reservations: of two that want the last units
   * of two groups, one gets both.
   */
  readonly order: number;
}

/**
 * An amount in any span of a given length: requests or tokens a minute. The window slides in
 * sixtieths of its length and is strict: no span of `windowMs` ever holds more than `limit`.
 */
export interface WindowClaim {
  readonly kind: "window";
  /**
   * Unique among windows. Another `windowMs` under the same key begins an empty window: put the
   * length into the key.
   */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  /**
   * On `take`: the expected amount. On `settle`: the actual amount; 0 returns all of it. An
   * integer, as `limit` is.
   */
  readonly amount: number;
  /**
   * Of one of very many counters: the key that brought it. Such counters have a bound of their own.
   * Beyond it those of the holder with the most are dropped, idle ones first. Absent: it is counted
   * with those of keys, teams and models.
   */
  readonly holder?: string | undefined;
  /** Absent: the counter is on its own, and asked last. */
  readonly group?: StateGroup;
}

/**
 * One of a limited number of concurrent slots. The slot is leased: without renewal it becomes free.
 */
export interface ConcurrentClaim {
  readonly kind: "concurrent";
  readonly key: string;
  readonly limit: number;
  /** As for a window. */
  readonly holder?: string | undefined;
  readonly group?: StateGroup;
}

/**
 * An amount of money in a period: spent + reserved + amount never exceeds the limit. Integers below
 * 2^53.
 */
export interface BudgetClaim {
  readonly kind: "budget";
  /**
   * The key names the period too: a new period has a new key, and a late settlement is booked in
   * the period of its reservation.
   */
  readonly key: string;
  readonly limitNanoUsd: number;
  /** On `take`: the reservation. On `settle`: the cost. */
  readonly amountNanoUsd: number;
  /**
   * The end of the period, milliseconds since 1970 by the caller's clock; `null`: never. It
   * controls retention, not decisions.
   */
  readonly resetsAtMs: number | null;
  /** As for a window. */
  readonly holder?: string | undefined;
  readonly group?: StateGroup;
}

/** One condition of a reservation. */
export type Claim = WindowClaim | ConcurrentClaim | BudgetClaim;

/**
 * The claims of an exchange: all are held, or none. No two claims of one kind have the same key.
 */
export interface Reservation {
  /** Unique for ever. */
  readonly id: string;
  readonly claims: readonly Claim[];
}

/** The state of a claim after the decision, for headers and messages. Nano-dollars for budgets. */
export interface ClaimState {
  readonly limit: number;
  /** The remaining amount; never negative. */
  readonly remaining: number;
  /**
   * Milliseconds until the window is empty if nothing more is taken. `undefined` for slots and
   * budgets: their end is unknown.
   */
  readonly resetMs: number | undefined;
}

/** All claims are held. */
export interface Granted {
  readonly outcome: "granted";
  /** In the order of the claims. */
  readonly states: readonly ClaimState[];
}

/** Nothing is held: some claim does not fit. */
export interface Refused {
  readonly outcome: "refused";
  /** The index of the first claim that does not fit. */
  readonly failedIndex: number;
  /** Its amount exceeds its whole limit: waiting does not help. */
  readonly neverFits: boolean;
  /**
   * Milliseconds until every window fits if nothing else is taken. `undefined` when the failed
   * claim is no window or never fits: the end of a slot or of a reservation is unknown.
   */
  readonly retryAfterMs: number | undefined;
  /** In the order of the claims. `undefined`: the claim is of a group that was not asked. */
  readonly states: readonly (ClaimState | undefined)[];
}

/**
 * Nothing is held: the spend under these budget keys is unknown. Read it from the ledger, call
 * `seed`, take again.
 */
export interface Unseeded {
  readonly outcome: "unseeded";
  readonly keys: readonly string[];
}

export type TakeResult = Granted | Refused | Unseeded;

/**
 * The stored values of a key, for operators. A member is `undefined` when the key has no value of
 * that kind.
 */
export interface StateReading {
  readonly key: string;
  readonly windowUsed: number | undefined;
  readonly inFlight: number | undefined;
  readonly spentNanoUsd: number | undefined;
  readonly reservedNanoUsd: number | undefined;
}

/** What a seed is made with, beside the amount. */
export interface SeedOptions {
  /** The group of the budget's claims. */
  readonly group?: StateGroup | undefined;
  /** Milliseconds since the ledger was asked for the amount. Absent: 0. */
  readonly readMs?: number;
}

/** A bound of several entries together. */
export interface StateBound {
  readonly name: string;
  readonly maxBytes: number;
  /**
   * The name of another bound of the entry. Where this one is exceeded, the part with the most
   * bytes loses its oldest entries. Of parts with equal bytes, that of the new entry loses.
   * Absent: the oldest of all go.
   */
  readonly part?: string;
}

/** A cache of bytes. Keys begin with their namespace. */
export interface StateCache {
  /**
   * The bytes. The caller must not change them. `undefined`: there are none, or, unless the entry
   * is `needed`, they cannot be read now. Rejects with `overloaded` where a needed one cannot be
   * read.
   */
  get(key: string, use?: "needed"): MaybePromise<Uint8Array | undefined>;
  /**
   * Stores bytes. The caller must not change them afterwards. Returns whether they are stored: too
   * large values are not. `holder` is the key that stores them: a driver with a bound of its own
   * first drops entries of a holder that exceeds its share. Absent: the part before the last colon
   * of the key. The entry counts in each of `bounds` while it exists. Where it would exceed one,
   * the oldest entries of that bound, or of its largest part, are dropped first; an entry that is
   * larger than a bound is not stored.
   */
  set(
    key: string,
    bytes: Uint8Array,
    ttlMs: number,
    holder?: string,
    bounds?: readonly StateBound[],
  ): MaybePromise<boolean>;
  /** Rejects with `overloaded` where the entry may be there still. */
  delete(key: string): MaybePromise<void>;
  /** Drops every entry whose key has the prefix. Returns the number of dropped entries. */
  purge(prefix: string): MaybePromise<number>;
}

/** The state of a request that may be a repeat. */
export type Begun =
  /**
   * The caller is the first, or already the owner: it does the work, then calls `complete` or
   * `abandon`.
   */
  | { readonly outcome: "new" }
  /** Another owner does the work. */
  | { readonly outcome: "running" }
  | { readonly outcome: "done"; readonly bytes: Uint8Array }
  /** The key was used with another body. */
  | { readonly outcome: "conflict" };

/** Records of requests by their key: the first request does the work, a repeat gets its result. */
export interface StateRecords {
  /** Claims a key. `owner` is unique. A repeated call by the owner extends the lease. */
  begin(key: string, bodyDigest: string, owner: string, leaseMs: number): MaybePromise<Begun>;
  /**
   * Stores the result. Returns whether it is stored: not after another owner took the lease, and
   * not when the bytes are too many; then the key is free.
   */
  complete(key: string, owner: string, bytes: Uint8Array, ttlMs: number): MaybePromise<boolean>;
  /** Frees a key that the owner holds. */
  abandon(key: string, owner: string): MaybePromise<void>;
}

/**
 * Shared state, in the form that plugins use. Every decision is one atomic call. Calls through
 * `host.state` do not fail when a server is unreachable. The gateway then decides locally: windows
 * and slots at its share of the limits, budgets by the ledger's totals, cache misses.
 */
export interface SharedState {
  /** Whether a decision takes a round trip to another process. Absent: it does not. */
  readonly isRemote?: boolean;
  /**
   * Takes all claims or none. `leaseMs` frees slots and reservations without a settlement; windows
   * slide by themselves.
   */
  take(reservation: Reservation, leaseMs: number): MaybePromise<TakeResult>;
  /**
   * Ends a reservation; its claims carry the actual amounts. Windows are corrected: an excess is
   * returned where it was taken, a shortage is added now. Reserved money becomes spent, and slots
   * become free. A second call has no effect. After the lease, the cost is still booked; windows
   * then stay unchanged. Record the ledger's row first. A recorded and unsettled cost may then
   * count twice when a lost budget is seeded again. It is never lost.
   */
  settle(reservation: Reservation): MaybePromise<void>;
  /**
   * Extends leases, with the claims as they were taken. Lost slots and lost reserved money are
   * restored, even beyond limits.
   */
  renew(reservations: readonly Reservation[], leaseMs: number): MaybePromise<void>;
  /** Sets the spend under a budget key, from the ledger. Has no effect when the spend is known. */
  seed(key: string, spentNanoUsd: number, options?: SeedOptions): MaybePromise<void>;
  /** What is stored under keys of one group; absent: of no group. */
  read(keys: readonly string[], group?: StateGroup): MaybePromise<readonly StateReading[]>;
  /**
   * Drops the window, the slots and the spend under a key: the next take asks for the ledger.
   * Reserved money stays reserved.
   */
  reset(key: string, group?: StateGroup): MaybePromise<void>;
  readonly cache: StateCache;
  readonly records: StateRecords;
}

/**
 * A running driver. It has its own clock: monotonic in the process, the server's otherwise. Its
 * calls reject when its server is unreachable. No call waits longer than the driver's timeout.
 */
export interface StateDriver extends SharedState {
  /**
   * `storedMs`: for how long the row of the cost has been in the ledger, where that is known. A
   * budget that was read from the ledger since has the cost already.
   */
  settle(reservation: Reservation, storedMs?: number): MaybePromise<void>;
  /**
   * Changes when a server has restarted, or another one has taken its counters: the last changes
   * may be lost. Absent: the driver does not know.
   */
  readonly life?: string;
  /** Rejects while a server cannot decide. Absent: a write to the cache finds out. */
  probe?(): Promise<void>;
  /**
   * Reports that this gateway, one of `instances`, is there, and learns which others are not: these
   * may decide alone, and their shares are left to them. Called twice a second. `isSuccessor`, of
   * the first report: an earlier process was killed while it decided alone, and the ledger has what
   * it spent since now. Budgets that were read before are read again.
   */
  beat?(instances: number, isSuccessor?: boolean): MaybePromise<void>;
  /** Has `report` called when a server is lost, also while no call waits for it. */
  watch?(report: (reason: Error) => void): void;
  /**
   * Whether its server is unreachable and decisions are made locally. Absent: the driver has no
   * server.
   */
  readonly isAway?: boolean;
  /**
   * Since when it refuses budgets that other instances may serve, in milliseconds of the monotonic
   * clock: it has not reached its server since the start, or neither the server nor the ledger says
   * what was spent. Absent: it does not.
   */
  readonly refusesBudgetsSinceMs?: number | undefined;
  /**
   * Rejects when its server is unreachable. It keeps trying to connect, and its calls work after
   * that.
   */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}
