/** Until when a process believes the records that it read from the store. */

import { type Clock, GatewayError, isGatewayError } from "@sluice/contract";

/** How long a look-up is believed where no log of changes is: another process may write. */
export const MEMORY_MS = 1_000;

/** What is served while the store does not answer. */
export interface StoreDownPolicy {
  /** `serve_known`: keys that are known. `refuse`: none. */
  readonly onStoreDown: "serve_known" | "refuse";
  /** The age of the last answer up to which known keys are served. */
  readonly maxStalenessMs: number;
}

/** The policy of an operator who names none. */
export const DEFAULT_POLICY: StoreDownPolicy = {
  onStoreDown: "serve_known",
  maxStalenessMs: 600_000,
};

/** How the store stands to a process that follows its log of changes. */
export interface StoreHealth {
  /** Whether the store does not answer. */
  readonly isAway: boolean;
  /** Since the last read of the log began, in milliseconds; `undefined` before the first. */
  readonly ageMs: number | undefined;
  /** Whether keys that are known are served. */
  readonly servesKnown: boolean;
}

/** The validity of what memories have of the store. Ages are of the monotonic clock. */
export interface Validity {
  /** Whether memories follow a log of changes. */
  readonly isFollowing: boolean;
  /** `undefined`: there is no log to follow. */
  readonly health: StoreHealth | undefined;
  /** Whether memories may be used now: they follow the log, or the policy allows their age. */
  isCurrent(): boolean;
  /**
   * Resolves once memories may be used. Rejects with `overloaded` while the store does not answer.
   */
  whenCurrent(): Promise<void>;
  /** Until when a record that is read now is believed, milliseconds since 1970. */
  untilMs(nowMs: number): number;
  /** The monotonic time at which records that are read from now on hold at least. */
  asOfMs(): number;
  /** Whether a record that held at a time may be served although the store does not answer. */
  mayServe(asOfMs: number): boolean;
  /** Runs a look-up. Rejects with `overloaded` where it fails; at once while the store is away. */
  ask<T>(load: () => Promise<T>): Promise<T>;
  /** Resolves once memories have what was committed before, or the store does not answer. */
  refresh(): Promise<void>;
}

/** Each record is believed for a second. */
export class TimedValidity implements Validity {
  readonly isFollowing = false;
  readonly health = undefined;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #policy: StoreDownPolicy;

  constructor(clock: Pick<Clock, "monotonic">, policy: StoreDownPolicy = DEFAULT_POLICY) {
    this.#clock = clock;
    this.#policy = policy;
  }

  isCurrent(): boolean {
    return true;
  }

  async whenCurrent(): Promise<void> {}

  untilMs(nowMs: number): number {
    return nowMs + MEMORY_MS;
  }

  asOfMs(): number {
    return this.#clock.monotonic();
  }

  mayServe(asOfMs: number): boolean {
    return isServed(this.#policy, this.#clock.monotonic() - asOfMs);
  }

  ask<T>(load: () => Promise<T>): Promise<T> {
    return asked(load);
  }

  async refresh(): Promise<void> {}
}

/** Whether the policy allows an age. */
export function isServed({ onStoreDown, maxStalenessMs }: StoreDownPolicy, ageMs: number): boolean {
  return onStoreDown === "serve_known" && ageMs <= maxStalenessMs;
}

/** Runs a look-up. An error of the database becomes `overloaded`. */
export async function asked<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw isGatewayError(error) ? error : storeAway(error);
  }
}

/** The refusal of a key that cannot be looked up, or is known for too long. */
export function storeAway(cause?: unknown): GatewayError {
  return new GatewayError(
    "overloaded",
    "The gateway cannot look the key up now. Retry after the time in retry-after.",
    { retryAfterMs: 1_000, ...(cause !== undefined && { cause }) },
  );
}
