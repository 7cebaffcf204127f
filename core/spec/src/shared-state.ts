/** Shared state: what several requests, and several processes, must agree on. Windows, slots, budgets, cache, repeats. */

/** What a driver in the process answers at once and one beyond a socket answers later. The hot path awaits only the latter. */
export type Soon<T> = T | Promise<T>;

/**
 * So much in any span of a length: requests or tokens a minute. The window slides in sixtieths of its length and is strict: no
 * span of `windowMs` ever holds more than `limit`.
 */
export interface WindowClaim {
  readonly kind: "window";
  /** One of a kind among windows. Another `windowMs` under the same key begins an empty window: put the length into the key. */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  /** When taken: what is expected. When settled: what it was; 0 gives all of it back. An integer, as `limit` is. */
  readonly amount: number;
}

/** One of so many at the same time. The slot is leased: one that nobody renews is free again. */
export interface ConcurrentClaim {
  readonly kind: "concurrent";
  readonly key: string;
  readonly limit: number;
}

/** So much money in a period: spent + reserved + amount never exceeds the limit. Integers below 2^53. */
export interface BudgetClaim {
  readonly kind: "budget";
  /** Names the period too: a new period is a new key, and what is settled late is booked where it was reserved. */
  readonly key: string;
  readonly limitNanoUsd: number;
  /** When taken: the reservation. When settled: the cost. */
  readonly amountNanoUsd: number;
  /** When the period ends, milliseconds since 1970 by the caller's clock; `null`: never. For keeping, not for deciding. */
  readonly resetsAtMs: number | null;
}

/** One condition of a reservation. */
export type Claim = WindowClaim | ConcurrentClaim | BudgetClaim;

/** What an exchange holds: all of its claims or none. No two claims of one kind have the same key. */
export interface Reservation {
  /** One of a kind for ever. */
  readonly id: string;
  readonly claims: readonly Claim[];
}

/** How a claim stands after the decision, for headers and messages. Nano-dollars for budgets. */
export interface ClaimState {
  readonly limit: number;
  /** What is left; never negative. */
  readonly remaining: number;
  /** Until a window is empty again when nothing more is taken. `undefined` for slots and budgets: nobody knows. */
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
  readonly short: number;
  /** Its amount exceeds its whole limit: waiting does not help. */
  readonly neverFits: boolean;
  /**
   * When every window would fit, if nothing else is taken. `undefined` when the short claim is no window or never fits: when a
   * slot or a reservation ends, nobody knows.
   */
  readonly retryAfterMs: number | undefined;
  /** In the order of the claims. */
  readonly states: readonly ClaimState[];
}

/** Nothing is held: what was spent under these budget keys is not known here. Read it from the ledger, `seed`, take again. */
export interface Unseeded {
  readonly outcome: "unseeded";
  readonly keys: readonly string[];
}

export type TakeResult = Granted | Refused | Unseeded;

/** What is known of a key, for people. A member is `undefined` when nothing of that kind is kept under the key. */
export interface StateReading {
  readonly key: string;
  readonly windowUsed: number | undefined;
  readonly inFlight: number | undefined;
  readonly spentNanoUsd: number | undefined;
  readonly reservedNanoUsd: number | undefined;
}

/** Bytes for a while. Keys begin with their namespace. */
export interface StateCache {
  /** The bytes; the caller does not change them. */
  get(key: string): Soon<Uint8Array | undefined>;
  /**
   * Keeps bytes, which the caller does not change after. Whether they are kept: not when they are too large. `holder` is the key
   * that stores them: a driver with a bound of its own drops entries of a holder with more than its share first. Absent: what
   * stands before the last colon of the key.
   */
  set(key: string, bytes: Uint8Array, ttlMs: number, holder?: string): Soon<boolean>;
  delete(key: string): Soon<void>;
  /** Drops every entry whose key begins so. Returns how many. */
  purge(prefix: string): Soon<number>;
}

/** What is known of a request that may be a repeat. */
export type Begun =
  /** The caller is the first, or already the owner: it does the work, then `complete` or `abandon`. */
  | { readonly outcome: "new" }
  /** Another is at it. */
  | { readonly outcome: "running" }
  | { readonly outcome: "done"; readonly bytes: Uint8Array }
  /** The key was used with another body. */
  | { readonly outcome: "conflict" };

/** Records of requests by their key: the first does the work, a repeat gets its result. */
export interface StateRecords {
  /** Asks for a key. `owner` is one of a kind; asking again as the owner extends the lease. */
  begin(key: string, bodyDigest: string, owner: string, leaseMs: number): Soon<Begun>;
  /** Keeps the result. Whether it is kept: not when the lease was lost to another, and not when the bytes are too many; then the key is free. */
  complete(key: string, owner: string, bytes: Uint8Array, ttlMs: number): Soon<boolean>;
  /** Frees a key that its owner holds. */
  abandon(key: string, owner: string): Soon<void>;
}

/**
 * Shared state as plugins see it. Every decision is one atomic call. Through `host.state` none of them fails because a
 * server is away: the gateway then decides by itself (windows and slots at its share of the limits, budgets on the ledger's
 * totals, cache misses).
 */
export interface SharedState {
  /** Takes all claims or none. `leaseMs` frees slots and reservations that nobody settles; windows slide by themselves. */
  take(reservation: Reservation, leaseMs: number): Soon<TakeResult>;
  /**
   * Ends a reservation; its claims carry the actual amounts. Windows are corrected (by what was taken too much where it was taken,
   * by what was taken too little now), reserved money becomes spent, slots are free. A second time it does nothing. After
   * the lease the cost is booked all the same; windows then stay as they are.
   *
   * Record the ledger's row before: what is recorded and not yet settled is then at worst counted twice when a lost budget
   * is seeded anew, never not at all.
   */
  settle(reservation: Reservation): Soon<void>;
  /** Extends leases, with the claims as they were taken. Slots and reserved money that were lost are put back, past limits too. */
  renew(reservations: readonly Reservation[], leaseMs: number): Soon<void>;
  /** Says what was spent under a budget key, by the ledger. Nothing when it is known already. */
  seed(key: string, spentNanoUsd: number): Soon<void>;
  read(keys: readonly string[]): Soon<readonly StateReading[]>;
  /** Forgets the window, the slots and what was spent under a key: the next take asks for the ledger. Reserved money stays reserved. */
  reset(key: string): Soon<void>;
  readonly cache: StateCache;
  readonly records: StateRecords;
}

/**
 * A living driver. Time is its own: monotonic in the process, the server's beyond it. Its calls reject when its server is away; none
 * waits longer than the driver's own timeout.
 */
export interface StateDriver extends SharedState {
  /** Whether its server is away, and decisions are made without it. Absent: it has none. */
  readonly isAway?: boolean;
  /** Rejects when its server cannot be reached; it goes on trying, and its calls work once it is there. */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}
