/** The host: all that a plugin may touch. */

import type { GuardrailCatalog } from "./guardrail.ts";
import type { Authority } from "./identity.ts";
import type { LedgerReader } from "./ledger.ts";
import type { Metrics } from "./metrics.ts";
import type { ModelCatalog, ModelDirectory } from "./model.ts";
import type { ProviderCatalog } from "./provider.ts";
import type { SharedState } from "./shared-state.ts";
import type { TokenCounter } from "./tokens.ts";
import type { PriceTable } from "./usage.ts";

/** Structured logging: a message and fields. Fields hold no prompt, key or body. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Time, replaceable in tests. */
export interface Clock {
  /** Milliseconds since 1970, for what is stored. */
  now(): number;
  /** Milliseconds that never jump, for what is measured. */
  monotonic(): number;
}

/** What a plugin leaves behind for the end of its generation. */
export interface Scope {
  /** Runs at the end of the generation, in the reverse order of registration. */
  defer(close: () => void | Promise<void>): void;
  /** Aborted when the generation ends, before anything that was deferred: for listeners, and for what waits. */
  readonly signal: AbortSignal;
  /**
   * Does something again and again, until the generation ends. What it throws is logged, and a time that comes while it is still
   * at it is passed over. It does not keep the process alive.
   */
  every(intervalMs: number, work: () => void | Promise<void>): void;
}

/** A value that outlives generations, counted by its holders. */
export interface SharedValue {
  close?(): void | Promise<void>;
}

/** All that a plugin may touch. */
export interface Host {
  readonly log: Log;
  /** Metrics under the plugin's name: `refusals_total` of the plugin `limits` is `sluice_limits_refusals_total`. */
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly scope: Scope;
  /** The generation the instance belongs to. */
  readonly generation: number;
  /** A value that outlives generations: made once for a key, held until the last generation that asked has ended. */
  shared<T extends SharedValue>(key: string, make: () => T): T;
  /** Models, targets and what a key may see. */
  readonly models: ModelCatalog;
  /** Who a credential belongs to. */
  readonly authority: Authority;
  /** The providers of this generation. */
  readonly providers: ProviderCatalog;
  /** The guardrails of this generation. */
  readonly guardrails: GuardrailCatalog;
  readonly prices: PriceTable;
  /** What is known of providers' models without asking them. */
  readonly directory: ModelDirectory;
  readonly ledger: LedgerReader;
  /** The zone in which days, weeks and months of budgets begin, by its IANA name. */
  readonly timeZone: string;
  /** Counts the tokens of texts. One for the process. */
  readonly tokens: TokenCounter;
  /**
   * Windows, slots, budgets, cache and repeats, shared by every process of the gateway. Keys and reservations are the plugin's own:
   * another one finds nothing under them. Tenants are kept apart by `tenantState` of the kit.
   */
  readonly state: SharedState;
}

/** The optional part of an instance that has a life. */
export interface Lifecycle {
  start?(signal: AbortSignal): Promise<void>;
  stop?(): Promise<void>;
}

/** All that a store may touch: it belongs to the process, not to a generation. */
export interface StoreHost extends Pick<Host, "log" | "clock"> {
  /** The data folder of the gateway, an absolute path. */
  readonly dataDirectory: string;
}

/** All that a driver of shared state may touch: it belongs to the process too. */
export type StateHost = Pick<Host, "log" | "clock">;
