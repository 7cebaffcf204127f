/**
 * The key ring: keys to what their records say, from the master key and the store. A key is
 * remembered as long as `validity.ts` says.
 */

import { hash } from "node:crypto";
import type {
  Clock,
  Identity,
  KeyRecord,
  KeyStore,
  Log,
  MaybePromise,
  RecordChanges,
  TeamStore,
  TenantStore,
} from "@sluice/contract";
import { storedKey } from "./key-identity.ts";
import { MasterKeys, type PreviousMaster, type PreviousMasterUse } from "./master-keys.ts";
import { expireAll, type RecordMemories, takeChanges } from "./store/record-memories.ts";
import { RememberedKeys } from "./store/remembered-keys.ts";
import { Plays } from "./tenants/plays.ts";
import { StoredKeys } from "./stored-keys.ts";
import { TimedValidity, type Validity } from "./store/validity.ts";
import type { KeyBase } from "./tenants/compile-identity.ts";
import { CustomerMemory } from "./tenants/customer-memory.ts";
import { Identities } from "./tenants/identities.ts";
import { IdentitiesInForce } from "./tenants/identities-in-force.ts";
import { OwnedTags } from "./tenants/owned-tags.ts";
import { StoredTenants } from "./tenants/stored-tenants.ts";
import type { TenantSource } from "./tenants/tenant-source.ts";

/** What a key ring is made from. */
export interface KeyRingOptions {
  readonly pepper: Buffer;
  readonly masterKey: string;
  readonly keys: Pick<KeyStore, "find" | "findByDigest" | "replaceDigest" | "ownedTags">;
  readonly teams: Pick<TeamStore, "find">;
  /** Absent: the store keeps keys and teams alone. */
  readonly tenants?: TenantStore | undefined;
  readonly clock: Clock;
  /** Until when records are believed. Absent: each for a second. */
  readonly validity?: Validity;
  /** Absent: nothing is logged. */
  readonly log?: Log;
  /**
   * The records that hold at the admin listener: one object for each configuration. Absent, and
   * `undefined`: those of the store.
   */
  readonly inForce?: ((stored: TenantSource) => TenantSource | undefined) | undefined;
  /** The master key from before a rotation. Absent, and `undefined`: there is none. */
  readonly previousMaster?: (() => PreviousMaster | undefined) | undefined;
}

const MASTER: Identity = Object.freeze({
  kind: "master",
  keyId: "master",
  alias: "master",
  userId: undefined,
  teamId: undefined,
  models: Object.freeze([]),
  spendScope: "key",
  tags: Object.freeze([]),
  metadata: Object.freeze({}),
});

/** What the master key is. */
export const MASTER_BASE: KeyBase = { identity: MASTER, block: {}, isStored: false };

/**
 * Finds what a key is. It never holds a key: hashes compare and look up without telling
 * anything of one.
 */
export class KeyRing {
  readonly #master: MasterKeys;
  readonly #stored: StoredKeys;
  /** The records of the store that keys belong to. */
  readonly tenants: StoredTenants;
  /** The customers that requests named lately. */
  readonly customers: CustomerMemory;
  /** Credentials of requests of the playground. */
  readonly plays = new Plays();
  readonly #identities: IdentitiesInForce;
  readonly #clock: Clock;
  readonly #validity: Validity;
  readonly #memories: RecordMemories;

  constructor(options: KeyRingOptions) {
    const { clock, validity = new TimedValidity(clock), inForce = () => undefined } = options;
    const parts = { clock, validity };
    this.#stored = new StoredKeys(options);
    this.tenants = new StoredTenants({ ...options, validity });
    this.customers = new CustomerMemory(options.tenants, parts);
    this.#memories = {
      keys: new RememberedKeys({ stored: this.#stored, ...parts }),
      tags: new OwnedTags(options.keys, parts),
      tenants: this.tenants,
      customers: this.customers,
    };
    this.#clock = clock;
    this.#validity = validity;
    this.#identities = new IdentitiesInForce(this, inForce);
    this.#master = new MasterKeys(options, (key) => this.fingerprint(key));
  }

  /** HMAC-SHA-256 of a key under the pepper, hexadecimal. */
  digest(key: string): string {
    return this.#stored.digest(key);
  }

  /**
   * What a key is looked up by inside this process. It never leaves the process, so a plain hash
   * serves, at a sixth of the digest's cost.
   */
  fingerprint(key: string): string {
    return hash("sha256", key, "base64url");
  }

  /**
   * The identity of a presented key of the store, by the records in force; `undefined` for unknown,
   * blocked and expired ones, and those of something that is blocked, alike.
   */
  identify(presented: string): MaybePromise<Identity | undefined> {
    const base = this.find(presented);
    if (base instanceof Promise) return base.then((found) => this.#identities.of(found));
    return this.#identities.of(base);
  }

  /**
   * What the record of a presented key says; `undefined` for unknown, blocked and expired ones
   * alike. Who has the key's fingerprint already hands it in.
   */
  find(
    presented: string,
    fingerprint = this.fingerprint(presented),
  ): MaybePromise<KeyBase | undefined> {
    if (this.#master.isPresent(fingerprint)) return MASTER_BASE;
    if (!this.#validity.isCurrent() && !this.#master.isOne(fingerprint))
      return this.#validity.whenCurrent().then(() => this.#find(presented, fingerprint));
    return this.#find(presented, fingerprint);
  }

  #find(presented: string, fingerprint: string): MaybePromise<KeyBase | undefined> {
    const found = this.#memories.keys.find(fingerprint);
    if (found !== undefined && found !== null) return found;
    // An edit may name the key while it is remembered as unknown.
    if (this.#master.takesPrevious(fingerprint)) return MASTER_BASE;
    return found === null ? undefined : this.#memories.keys.load(presented, fingerprint);
  }

  /** Makes identities of keys by the records of a source. */
  identitiesBy(source: TenantSource): Identities {
    return new Identities(source, this.tenants, this.#clock);
  }

  /** Milliseconds since 1970. */
  nowMs(): number {
    return this.#clock.now();
  }

  get previousMasterUse(): PreviousMasterUse {
    return this.#master.previousUse;
  }

  /**
   * The id of a key, whatever its state; `undefined` for what is no key. The one from before a
   * rotation counts.
   */
  async idOf(presented: string): Promise<string | undefined> {
    const fingerprint = this.fingerprint(presented);
    if (this.#master.isOne(fingerprint)) return MASTER.keyId;
    return (await this.#stored.find(presented, fingerprint))?.record.id;
  }

  /** The key of the store with a secret, whatever its state; `undefined` without one. */
  async recordOf(presented: string): Promise<KeyRecord | undefined> {
    return (await this.#stored.find(presented, this.fingerprint(presented)))?.record;
  }

  /** Whether a fingerprint is that of a master key, the previous one included. */
  isMaster(fingerprint: string): boolean {
    return this.#master.isOne(fingerprint);
  }

  /** A digest of the present master key, for what ends with it. */
  masterDigest(): string {
    return this.digest(this.#master.present);
  }

  /** Whether a digest of a fingerprint is that of a master key, the previous one included. */
  isMasterDigest(digest: string): boolean {
    return this.#master.accepted.some((fingerprint) => this.digest(fingerprint) === digest);
  }

  /** As `identify`, for a key that was presented before. `record` was read now. */
  identifyRecord(record: KeyRecord): MaybePromise<Identity | undefined> {
    const isOver = record.expiresAtMs !== null && record.expiresAtMs <= this.#clock.now();
    return record.blocked || isOver ? undefined : this.#identities.of(storedKey(record));
  }

  /** Which of these tags, that a key names, stand on a record of the store. */
  ownedTags(tags: readonly string[], keyId: string): MaybePromise<readonly string[]> {
    return this.#memories.tags.owned(tags, keyId);
  }

  /** Asks the store anew, where no log of changes is followed: this process changed records. */
  forget(): void {
    if (!this.#validity.isFollowing) expireAll(this.#memories);
  }

  /** As `forget`, because another process has changed records. Resolves once they are in force. */
  async refresh(): Promise<void> {
    this.forget();
    await this.#validity.refresh();
  }

  /** Takes changes of records. `undefined`: any may have changed, and held as of a time. */
  take(changes: RecordChanges, asOfMs: number): void {
    takeChanges(this.#memories, changes, asOfMs);
  }
}
