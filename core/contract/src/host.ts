/** The host: all that a plugin may touch. */

import type { GuardrailCatalog } from "./guardrail.ts";
import type { Authority } from "./identity.ts";
import type { LedgerReader } from "./ledger/ledger.ts";
import type { Metrics } from "./metrics.ts";
import type { ModelCatalog, ModelDirectory } from "./model.ts";
import type { ProviderCatalog } from "./provider.ts";
import type { SharedState } from "./shared-state.ts";
import type { TokenCounter } from "./usage.ts";
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
  /**
   * Aborted when the generation ends, before anything that was deferred: for listeners, and for
   * what waits.
   */
  readonly signal: AbortSignal;
  /**
   * Does something again and again, until the generation ends. What it throws is logged, and a time
   * that comes while it is still at it is passed over. It does not keep the process alive.
   */
  every(intervalMs: number, work: () => void | Promise<void>): void;
}

/** A value that outlives generations, counted by its holders. */
export interface SharedValue {
  close?(): void | Promise<void>;
}

/**
 * Seals bytes that leave the process: authenticated encryption under a secret of the installation.
 * Gateways with the same pepper open what another one sealed.
 */
export interface Sealer {
  /**
   * `purpose` is a constant of the caller; each has a key of its own. `owner` is what the bytes
   * belong to: only the same one opens them.
   */
  seal(purpose: string, owner: string, bytes: Uint8Array): Uint8Array;
  /** The bytes; `undefined` for what was not sealed for this purpose and owner. */
  open(purpose: string, owner: string, sealed: Uint8Array): Uint8Array | undefined;
}

/** All that a plugin may touch. */
export interface Host {
  readonly log: Log;
  /**
   * Metrics under the plugin's name: `refusals_total` of the plugin `limits` is
   * `sluice_limits_refusals_total`.
   */
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly scope: Scope;
  /** The generation the instance belongs to. */
  readonly generation: number;
  /**
   * A value that outlives generations: made once for a key, held until the last generation that
   * asked has ended.
   */
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
  /** The known properties of providers' models. No upstream is called. */
  readonly directory: ModelDirectory;
  readonly ledger: LedgerReader;
  /** The zone in which days, weeks and months of budgets begin, by its IANA name. */
  readonly timeZone: string;
  /** Counts the tokens of texts. One for the process. */
  readonly tokens: TokenCounter;
  /**
   * Windows, slots, budgets, cache and repeats, shared by every process of the gateway. Keys and
   * reservations are the plugin's own: another one finds nothing under them. Tenants are kept apart
   * by `tenantState` of the kit.
   */
  readonly state: SharedState;
  readonly sealer: Sealer;
}

/**
 * The optional methods by which the engine starts and stops an instance: a step or a guardrail. An
 * instance belongs to one generation. Its life has four phases, and each begins once:
 *
 * 1. `create` of the definition, synchronous. All instances of a generation are created before the
 *    first one starts. A preflight builds a generation of its own: its steps have a host with
 *    stand-ins, its guardrails are those of the candidate and do not start again.
 * 2. `start`.
 * 3. Requests. The instance is called from several exchanges at the same time. The self-test of
 *    guardrails and the tests of pipelines are calls of this phase; they come before the first
 *    client.
 * 4. `stop`, then what was registered with `host.scope.defer` in `create`. `host.scope.signal` is
 *    aborted before.
 */
export interface Lifecycle {
  /**
   * Prepares the instance: connections, files, a first look-up.
   *
   * - When: after every `create` of the generation, before the first request of this generation.
   * - Order: one instance at a time. Guardrails in the order of their entries, then steps, the
   *   innermost of a pipeline first. What an instance calls has started before it.
   * - Before it returns: the generation before still serves. Take no port, lock or file that the
   *   same plugin of that generation may hold; share such a value with `host.shared`.
   * - Deadline: 10 seconds. Then `signal` is aborted, and the start counts as failed.
   * - Error: the generation is refused with a finding at the entry's line, and the one before goes
   *   on serving. What was created is closed as in phase 4; `stop` of this instance is called too.
   */
  start?(signal: AbortSignal): Promise<void>;
  /**
   * Releases what `start` took.
   *
   * - When: after the last exchange of the generation has ended. An exchange that outlives the
   *   drain is aborted first. Also after a failed start, of this instance or of one that started
   *   later.
   * - Order: the reverse of the starts, one instance at a time.
   * - Must hold: it works after a `start` that failed or has not settled, and a second call does
   *   nothing.
   * - Deadline: 5 seconds. Then the stop counts as failed, and is not awaited any more.
   * - Error: it is logged, and the next instance is stopped.
   */
  stop?(): Promise<void>;
}

/** All that a store may touch: it belongs to the process, not to a generation. */
export interface StoreHost extends Pick<Host, "log" | "clock"> {
  /** The data folder of the gateway, an absolute path. */
  readonly dataDirectory: string;
}

/** All that a driver of shared state may touch: it belongs to the process too. */
export type StateHost = Pick<Host, "log" | "clock">;
