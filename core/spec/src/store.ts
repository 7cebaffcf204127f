/** Stores: where keys, teams and the ledger live. */

import type { SpendScope } from "./identity.ts";
import type { LedgerReader, SpendRow } from "./ledger.ts";

/** A virtual key at rest. The key itself is nowhere: `digest` is HMAC-SHA-256 of it under the installation's pepper. */
export interface KeyRecord {
  readonly id: string;
  /** Lower-case hexadecimal. */
  readonly digest: string;
  /** The digest from before the last rotation, `null` without one; it counts until `previousUntilMs` and no longer. */
  readonly previousDigest: string | null;
  readonly previousUntilMs: number | null;
  /** The last four characters of the key, for people. */
  readonly last4: string;
  /** One of a kind among keys. */
  readonly alias: string | null;
  readonly models: readonly string[];
  readonly maxBudgetNanoUsd: number | null;
  readonly softBudgetNanoUsd: number | null;
  readonly budgetDuration: string | null;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly maxParallelRequests: number | null;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number | null;
  readonly tags: readonly string[];
  /** Tags that its requests may name although they stand on other records or have a budget. */
  readonly allowedTags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly guardrails: readonly string[];
  /** Whether it reaches every native path of the providers, not the inference endpoints alone. Without a model list only. */
  readonly passthrough: boolean;
  readonly spendScope: SpendScope;
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
  readonly softBudgetNanoUsd: number | null;
  readonly budgetDuration: string | null;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly maxParallelRequests: number | null;
  readonly tags: readonly string[];
  /** Tags that its requests may name although they stand on other records or have a budget. */
  readonly allowedTags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly guardrails: readonly string[];
  /** Whether it reaches every native path of the providers, not the inference endpoints alone. Without a model list only. */
  readonly passthrough: boolean;
  readonly blocked: boolean;
  readonly createdAtMs: number;
}

/** What may be changed of a key. The digests change by a rotation alone. */
export type KeyChanges = Partial<
  Omit<KeyRecord, "id" | "createdAtMs" | "digest" | "last4" | "previousDigest" | "previousUntilMs">
>;

/** What may be changed of a team. */
export type TeamChanges = Partial<Omit<TeamRecord, "id" | "createdAtMs">>;

/** Why a key was not written: another has its alias (or its id or digest), or its team does not exist. */
export type KeyConflict = "taken" | "no-team";

/** A new secret for a key. */
export interface Rotation {
  readonly digest: string;
  readonly last4: string;
  /** Until when the secret from before counts, milliseconds since 1970; `null`: not any more. */
  readonly previousUntilMs: number | null;
}

/** Which keys are listed: all filters are ANDed. The oldest first. */
export interface KeyQuery {
  readonly userId?: string;
  readonly teamId?: string;
  readonly alias?: string;
  readonly offset: number;
  readonly limit: number;
}

/** A page of keys, and how many match in all. */
export interface KeyPage {
  readonly keys: readonly KeyRecord[];
  readonly total: number;
}

/**
 * Keys at rest. Every write is one statement that names what it changes: nothing is read, changed and written back, so that
 * no write brings back what another has just taken away.
 */
export interface KeyStore {
  /** The key of a digest, also of its previous one. Whether that one still counts is for the caller to say. */
  findByDigest(digest: string): Promise<KeyRecord | undefined>;
  find(id: string): Promise<KeyRecord | undefined>;
  list(query: KeyQuery): Promise<KeyPage>;
  /** Adds a key, or says why it was not added. */
  insert(key: KeyRecord): Promise<"added" | KeyConflict>;
  /** Changes members of a key. Returns the key as it now is, `undefined` when there is none. */
  update(id: string, changes: KeyChanges): Promise<KeyRecord | KeyConflict | undefined>;
  /** Gives a key a new secret; the present one becomes the previous one, and the previous one is gone. */
  rotate(id: string, rotation: Rotation): Promise<KeyRecord | undefined>;
  /** Whether there was such a key. */
  delete(id: string): Promise<boolean>;
  /** Which of these tags stand on a key's or a team's record. Absent: the store cannot say, and no tag is owned by a record of it. */
  ownedTags?(tags: readonly string[]): Promise<readonly string[]>;
}

/** Teams at rest. */
export interface TeamStore {
  find(id: string): Promise<TeamRecord | undefined>;
  list(): Promise<readonly TeamRecord[]>;
  /** Whether the team was added: not when its id is taken. */
  insert(team: TeamRecord): Promise<boolean>;
  update(id: string, changes: TeamChanges): Promise<TeamRecord | undefined>;
  /** Deletes a team and, in the same transaction, its keys. Whether there was such a team. */
  delete(id: string): Promise<boolean>;
}

/** The ledger at rest. */
export interface LedgerStore extends LedgerReader {
  /** Inserts rows in one transaction. A row whose `(requestId, attempt)` is already there is left as it is. */
  insert(rows: readonly SpendRow[]): Promise<void>;
}

/** How a store starts. */
export interface StoreStart {
  /** A store existed at this place before: refuse to make a new, empty one. */
  readonly mustExist?: boolean;
}

/** A living store. `start` opens it and migrates its schema. */
export interface Store {
  start(signal: AbortSignal, options?: StoreStart): Promise<void>;
  stop(): Promise<void>;
  /** What is wrong with the place where everything is kept, in a sentence for the operator; `undefined` while nothing is. Asked once a second. */
  fault?(): string | undefined;
  /**
   * Keeps a fact about the store itself, under a name, unless one is there. Returns the one that is. Absent: the store keeps nothing
   * after its end, or cannot tell one of its kind from another.
   */
  keep?(name: string, value: string): Promise<string>;
  readonly keys: KeyStore;
  readonly teams: TeamStore;
  readonly ledger: LedgerStore;
}
