/** Stores: the place of keys, teams and the ledger. */

import type { AuditEntry, AuditStore } from "./tenants/audit.ts";
import type { StoredConfiguration } from "./fleet/configuration.ts";
import type { InstanceStore } from "./fleet/instances.ts";
import type { LeaseStore, StoreJob } from "./fleet/leases.ts";
import type { RolloutStore } from "./fleet/rollouts.ts";
import type { ChangeLog } from "./tenants/changes.ts";
import type { SpendScope } from "./identity.ts";
import type { KeyUse, KeyUseQuery, LedgerReader, SpendRow } from "./ledger/ledger.ts";
import type { SessionStore } from "./tenants/sessions.ts";
import type { SumsCheck } from "./ledger/report.ts";
import type {
  Deletion,
  KeysOfDeleted,
  LimitBlock,
  ManagedBy,
  TeamExtras,
  TenantConflict,
  TenantPage,
  TenantQuery,
  TenantScope,
  TenantStore,
} from "./tenants/records.ts";

/**
 * A stored virtual key. The key itself is not stored: `digest` is its HMAC-SHA-256 under the
 * installation's pepper.
 */
export interface KeyRecord extends LimitBlock {
  readonly id: string;
  /**
   * Lower-case hexadecimal. Of an imported key, until its first use: `sha256:` and the SHA-256 of
   * the key.
   */
  readonly digest: string;
  /**
   * The digest from before the last rotation, `null` without one. It is valid until
   * `previousUntilMs`.
   */
  readonly previousDigest: string | null;
  readonly previousUntilMs: number | null;
  /** The last four characters of the key, for the operator. */
  readonly last4: string;
  readonly spendScope: SpendScope;
  readonly userId: string | null;
  readonly teamId: string | null;
  /**
   * The organization of a key without a team. With a team it is `null` or the team's organization.
   */
  readonly organizationId: string | null;
  /** The customer that the key acts for. It wins over the one that a request names. */
  readonly customerId: string | null;
  /** Whether its requests may name their customer. */
  readonly mayNameCustomers: boolean;
  /** Names of its own for models: alias to model id. They win over those of its team. */
  readonly modelAliases: Readonly<Record<string, string>>;
  /** Whether it acts with the roles of its user on the admin listener. */
  readonly admin: boolean;
  /**
   * The user whose credential made its secret, or the issuer of that credential; `null`: the master
   * key. On the admin listener it has no role that this user does not have.
   */
  readonly issuedBy: string | null;
  /**
   * The key that it was made with by self-service: what that key may have, both have together.
   * `null`: administration made it.
   */
  readonly madeWith: string | null;
  readonly createdAtMs: number;
}

/** A team: limits shared by its keys. */
export interface TeamRecord extends LimitBlock, TeamExtras {
  readonly id: string;
  /**
   * `file`: the row stands for a team that the configuration declares, so that keys can belong to
   * it. It is blocked: it counts only after the configuration no longer declares the team. Absent:
   * `store`.
   */
  readonly managedBy?: ManagedBy;
  readonly createdAtMs: number;
}

/** The members of a key that may change. Only a rotation changes the digests. */
export type KeyChanges = Partial<
  Omit<
    KeyRecord,
    | "id"
    | "createdAtMs"
    | "digest"
    | "last4"
    | "previousDigest"
    | "previousUntilMs"
    | "issuedBy"
    | "madeWith"
    | "importedSpend"
  >
>;

/** The members of a team that may change. */
export type TeamChanges = Partial<Omit<TeamRecord, "id" | "createdAtMs" | "importedSpend">>;

/**
 * The reason why a key was not written: another key has its id or digest, or another key of the
 * organization its alias; its team does not exist; a key with its id was imported before, and may
 * have been deleted since; its organization or budget does not exist; or they belong to another
 * organization than its team.
 */
export type KeyConflict = "taken" | "no-team" | "imported" | "missing" | "border";

/** A new secret for a key. */
export interface Rotation {
  readonly digest: string;
  readonly last4: string;
  /**
   * The end of the previous secret's validity, milliseconds since 1970; `null`: it is invalid now.
   */
  readonly previousUntilMs: number | null;
  /** As `KeyRecord.issuedBy`. Absent: as it is. */
  readonly issuedBy?: string | null;
}

/** Selects keys. A key must match all filters. The oldest come first. */
export interface KeyQuery {
  readonly userId?: string;
  readonly teamId?: string;
  /** Keys of the organization itself and of its teams. */
  readonly organizationId?: string;
  readonly customerId?: string;
  readonly budgetId?: string;
  readonly alias?: string;
  readonly madeWith?: string;
  /** Only keys that belong to one of these. */
  readonly within?: TenantScope;
  readonly offset: number;
  readonly limit: number;
}

/** A page of keys, and the number of all matches. */
export interface KeyPage {
  readonly keys: readonly KeyRecord[];
  readonly total: number;
}

/** The order of a list of keys. Keys without an alias or an end come last in these orders. */
export type KeyOrder = "newest" | "oldest" | "alias" | "expires";

/** What a key is now. A blocked key stays `blocked` after its end. */
export type KeyStatus = "active" | "blocked" | "expired";

/** A question for a page of keys. A key must match all members. */
export interface KeyPageQuery extends Omit<KeyQuery, "offset" | "alias"> {
  /**
   * The beginning of an alias, of an id or of a user's id, as it is written. The keys come in this
   * order, each once, and `order` has no effect.
   */
  readonly search?: string;
  readonly status?: KeyStatus;
  /** The time at which `status` is true, milliseconds since 1970. */
  readonly nowMs: number;
  /** Absent: `newest`. */
  readonly order?: KeyOrder;
  /** The cursor of the last key of the page before. */
  readonly after?: string;
}

/** Keys, each with the place behind it. */
export interface KeyListing {
  readonly keys: readonly { readonly key: KeyRecord; readonly cursor: string }[];
  /** Whether there are more keys behind the last one. */
  readonly isMore: boolean;
}

/**
 * Stored keys. Every write is one statement that names its changes. It does not read, change and
 * write back, so it cannot undo a concurrent write.
 */
export interface KeyStore {
  /**
   * The key with a digest, also by its previous one. The caller decides whether the previous digest
   * is still valid. `other` is another digest of the same secret: both are looked up in one
   * statement, so that a key is found while one replaces the other.
   */
  findByDigest(digest: string, other?: string): Promise<KeyRecord | undefined>;
  find(id: string): Promise<KeyRecord | undefined>;
  list(query: KeyQuery): Promise<KeyPage>;
  /**
   * A page of a list of any length. It counts nothing, and reads where no look-up waits for it.
   * Throws `invalid_field` for a cursor of another list.
   */
  page(query: KeyPageQuery): Promise<KeyListing>;
  /** Adds a key, or returns the reason why it was not added. */
  insert(key: KeyRecord): Promise<"added" | KeyConflict>;
  /** Changes members of a key. Returns the changed key, `undefined` without such a key. */
  update(id: string, changes: KeyChanges): Promise<KeyRecord | KeyConflict | undefined>;
  /**
   * Sets a new secret. The present secret becomes the previous one, and the previous one is
   * dropped.
   */
  rotate(id: string, rotation: Rotation): Promise<KeyRecord | undefined>;
  /**
   * Replaces a digest of a key, the present or the previous one, by another digest of the same
   * secret. Does nothing when the key no longer has it. Absent: no key can be imported.
   */
  replaceDigest?(id: string, from: string, to: Pick<Rotation, "digest" | "last4">): Promise<void>;
  /** Whether a key with an id was ever imported, deleted or not. */
  wasImported?(id: string): Promise<boolean>;
  /** Deletes a key. Returns whether it existed. */
  delete(id: string): Promise<boolean>;
  /**
   * The tags among these that a key's or a team's record carries. Absent: the store cannot answer,
   * and no record owns a tag.
   */
  ownedTags?(tags: readonly string[]): Promise<readonly string[]>;
  /** Records that carry a tag, the first hundred. Absent: as of `ownedTags`. */
  tagOwners?(tag: string): Promise<readonly TagOwner[]>;
}

/** A record that carries a tag. */
export type TagOwner =
  | { readonly kind: "key" | "organization" | "user"; readonly id: string }
  | { readonly kind: "team" | "membership"; readonly teamId: string }
  | { readonly kind: "customer"; readonly organizationId: string };

/** Stored teams. Ids follow the rules of `TenantTable`. */
export interface TeamStore {
  find(id: string): Promise<TeamRecord | undefined>;
  list(query: TenantQuery): Promise<TenantPage<TeamRecord>>;
  insert(team: TeamRecord): Promise<"added" | TenantConflict>;
  update(id: string, changes: TeamChanges): Promise<TeamRecord | TenantConflict | undefined>;
  /**
   * Writes the row of a declared team, `managedBy: "file"`, as `TenantTable.declare` does. Absent:
   * no key of the store can belong to a declared team.
   */
  declare?(team: TeamRecord): Promise<"declared" | "taken">;
  /**
   * Deletes a team and its memberships; its keys as `keys` says, all in one transaction. A blocked
   * key still names the team.
   */
  delete(id: string, keys: KeysOfDeleted): Promise<Deletion>;
}

/** The stored ledger. */
export interface LedgerStore extends LedgerReader {
  /**
   * Inserts rows in one transaction. A row with an existing `(requestId, attempt)` stays unchanged.
   * A row of a time whose rows were deleted is left out: it may have been counted before.
   */
  insert(rows: readonly SpendRow[]): Promise<void>;
  /** The use of each of these keys, in their order. It rejects as the reader's methods do. */
  uses(keys: readonly KeyUseQuery[], signal?: AbortSignal): Promise<readonly KeyUse[]>;
}

/** How a store starts. */
export interface StoreStart {
  /** A store existed at this place before: `start` refuses to make a new, empty one. */
  readonly mustExist?: boolean;
  /**
   * Present: a server that cannot be reached is no reason to reject. Reads and writes reject until
   * it answers; then the store is opened, and this is called. Stores in files ignore it.
   */
  readonly onLateOpen?: () => void;
}

/** How the schema of a store stands to the one that this version makes. */
export interface StoreSchema {
  /** `none`: there is no store yet. `newer`: this version refuses it. */
  readonly state: "none" | "current" | "older" | "newer";
  /** Names of the changes that a start would make; for `newer`, of those that are unknown. */
  readonly changes: readonly string[];
}

/** Connections of a store's server. */
export interface StoreConnections {
  /** What the server allows the store's user at the same time. */
  readonly max: number;
  /** Those of all clients that count against it. */
  readonly used: number;
  /** Of them, those of all gateways on the store's database. */
  readonly ofGateways: number;
  /** What one process of this gateway takes at most. */
  readonly perProcess: number;
}

/** A running store. `start` opens it and migrates its schema. */
export interface Store {
  start(signal: AbortSignal, options?: StoreStart): Promise<void>;
  stop(): Promise<void>;
  /**
   * The fault of the storage, as a sentence for the operator; `undefined` without one. Read once a
   * second.
   */
  fault?(): string | undefined;
  /**
   * Stores a fact about the store itself under a name, unless the name exists. Returns the stored
   * fact. Absent: the store keeps nothing after its end, or cannot identify itself.
   */
  keep?(name: string, value: string): Promise<string>;
  /** The file that holds it. Absent: it is elsewhere, and has backups of its own. */
  readonly file?: string;
  /**
   * Writes a consistent copy to a file that does not exist, also while another process uses the
   * store. Needs no `start`. Present where `file` is.
   */
  copyTo?(path: string): Promise<void>;
  /**
   * Compares the schema of its file, or of a copy, with the one that this version makes. Changes
   * nothing, and needs no `start`. Absent: it cannot tell.
   */
  inspect?(path?: string): Promise<StoreSchema>;
  /**
   * Counts the connections of its server. Changes nothing, and needs no `start`. Rejects with
   * `Error` when the server does not answer. Absent: it has no server.
   */
  connections?(): Promise<StoreConnections>;
  /**
   * Changes the schema to the one of this version, while gateways use it. Needs no `start`. Returns
   * the names of the changes that it made; another process may make some at the same time. Rejects
   * with the signal's reason, and with `Error` for a schema that is too new. Absent: `start` alone
   * changes it.
   */
  migrate?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Compares the sums of its file with the rows of a span of time, whole UTC days, and changes
   * nothing. Needs no `start`; the file may be in use. Rejects with the signal's reason, and with
   * `Error` when the file cannot be read. Absent: the store keeps no sums.
   */
  verifySums?(
    span: { readonly fromMs?: number; readonly toMs?: number },
    signal: AbortSignal,
  ): Promise<SumsCheck>;
  readonly keys: KeyStore;
  readonly teams: TeamStore;
  /** Absent: the store keeps keys and teams alone. */
  readonly tenants?: TenantStore;
  /** Absent: the store keeps no sessions, and the dashboard cannot be signed in to. */
  readonly sessions?: SessionStore;
  /** Absent: gateways that share the store do not know of each other. */
  readonly instances?: InstanceStore;
  /** Absent: an edit is for one gateway alone. Present where `instances` is. */
  readonly rollouts?: RolloutStore;
  /**
   * The configuration in the store; `undefined`: it has none. Needs no `start`. Rejects with
   * `Error` when the store cannot be read, and with the signal's reason. Absent: the store cannot
   * hold one.
   */
  configuration?(signal: AbortSignal): Promise<StoredConfiguration | undefined>;
  /** Absent: the store keeps no audit; the log has the changes. */
  readonly audit?: AuditStore;
  /**
   * The same records. Each of their changes writes a line of the audit in its own transaction, and
   * has no effect without it. A change that changes nothing writes no line. Present where `audit`
   * is.
   */
  audited?(entry: AuditEntry): Pick<Store, "keys" | "teams" | "tenants">;
  readonly ledger: LedgerStore;
  /**
   * The log of changes. With it, a process believes a record until a change names it. Absent: each
   * record is read again after a second.
   */
  readonly changes?: ChangeLog;
  /** Leases of the processes that use the store. Absent: one process uses it. */
  readonly leases?: LeaseStore;
  /** The work that one process does for all. Serving never waits for it. Absent: there is none. */
  readonly jobs?: readonly StoreJob[];
}
