/** Stores: where keys, teams and the ledger live. */

import type { LedgerReader, SpendRow } from "./ledger.ts";

/** A virtual key at rest. The key itself is nowhere: `digest` is HMAC-SHA-256 of it under the installation's pepper. */
export interface KeyRecord {
  readonly id: string;
  /** Lower-case hexadecimal. */
  readonly digest: string;
  /** The last four characters of the key, for people. */
  readonly last4: string;
  readonly alias: string | null;
  readonly models: readonly string[];
  readonly maxBudgetNanoUsd: number | null;
  readonly budgetDuration: string | null;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly maxParallelRequests: number | null;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number | null;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly guardrails: readonly string[];
  readonly userId: string | null;
  readonly teamId: string | null;
  readonly blocked: boolean;
  readonly createdAtMs: number;
}

/** A team: limits shared by its keys. */
export interface TeamRecord {
  readonly id: string;
  readonly alias: string | null;
  readonly models: readonly string[];
  readonly maxBudgetNanoUsd: number | null;
  readonly budgetDuration: string | null;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly maxParallelRequests: number | null;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly blocked: boolean;
  readonly createdAtMs: number;
}

/** Keys at rest. */
export interface KeyStore {
  findByDigest(digest: string): Promise<KeyRecord | undefined>;
  find(id: string): Promise<KeyRecord | undefined>;
  list(): Promise<readonly KeyRecord[]>;
  insert(key: KeyRecord): Promise<void>;
  /** Changes members of a key. Returns the key as it now is, `undefined` when there is none. */
  update(id: string, changes: Partial<Omit<KeyRecord, "id" | "createdAtMs">>): Promise<KeyRecord | undefined>;
  /** Whether there was such a key. */
  delete(id: string): Promise<boolean>;
}

/** Teams at rest. */
export interface TeamStore {
  find(id: string): Promise<TeamRecord | undefined>;
  list(): Promise<readonly TeamRecord[]>;
  insert(team: TeamRecord): Promise<void>;
  update(id: string, changes: Partial<Omit<TeamRecord, "id" | "createdAtMs">>): Promise<TeamRecord | undefined>;
  delete(id: string): Promise<boolean>;
}

/** The ledger at rest. */
export interface LedgerStore extends LedgerReader {
  /** Inserts rows in one transaction. A row whose `(requestId, attempt)` is already there is left as it is. */
  insert(rows: readonly SpendRow[]): Promise<void>;
}

/** A living store. `start` opens it and migrates its schema. */
export interface Store {
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  readonly keys: KeyStore;
  readonly teams: TeamStore;
  readonly ledger: LedgerStore;
}
