/**
 * The key ring: keys to what their records say, from the master key and the store, with a short
 * memory.
 */

import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type {
  Clock,
  Identity,
  KeyRecord,
  KeyStore,
  Log,
  MaybePromise,
  TeamStore,
  TenantStore,
} from "@sluice/contract";
import { storedKey } from "./key-identity.ts";
import { MasterKeys, type PreviousMaster, type PreviousMasterUse } from "./master-keys.ts";
import { type FoundKey, StoredKeys } from "./stored-keys.ts";
import { OwnedTags } from "./owned-tags.ts";
import type { KeyBase } from "./tenants/compile-identity.ts";
import { CustomerMemory } from "./tenants/customer-memory.ts";
import { Identities } from "./tenants/identities.ts";
import { MEMORY_ENTRIES, MEMORY_MS } from "./tenants/record-memory.ts";
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
  /** Absent: nothing is logged. */
  readonly log?: Log;
  /** The master key from before a rotation. Absent, and `undefined`: there is none. */
  readonly previousMaster?: (() => PreviousMaster | undefined) | undefined;
}

interface Remembered {
  readonly record: KeyRecord | undefined;
  /** The same object as long as the record is the same; `undefined`: it is refused. */
  readonly base: KeyBase | undefined;
  /** Never later than the moment at which the key itself ends. */
  readonly untilMs: number;
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

const MASTER_BASE: KeyBase = { identity: MASTER, block: {}, isStored: false };

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
  readonly #identities: Identities;
  readonly #clock: Clock;
  readonly #remembered = new Map<string, Remembered>();
  readonly #tags: OwnedTags;
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor(options: KeyRingOptions) {
    this.#stored = new StoredKeys(options);
    this.#tags = new OwnedTags(options.keys, options.clock);
    this.tenants = new StoredTenants(options);
    this.customers = new CustomerMemory(options.tenants, options.clock);
    this.#clock = options.clock;
    this.#identities = this.identitiesBy(this.tenants);
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
   * The identity of a presented key by the records of the store alone; `undefined` for unknown,
   * blocked and expired ones, and those of something that is blocked, alike.
   */
  identify(presented: string): MaybePromise<Identity | undefined> {
    const base = this.find(presented);
    if (base instanceof Promise) return base.then((found) => found && this.#identities.of(found));
    return base && this.#identities.of(base);
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
    const remembered = this.#remembered.get(fingerprint);
    const isRemembered = remembered !== undefined && this.#clock.now() < remembered.untilMs;
    if (isRemembered && remembered.base !== undefined) return remembered.base;
    // An edit may name the key while it is remembered as unknown.
    if (this.#master.takesPrevious(fingerprint)) return MASTER_BASE;
    return isRemembered ? undefined : this.#load(presented, fingerprint, remembered);
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

  /** Which of these tags stand on a record of the store. */
  ownedTags(tags: readonly string[]): readonly string[] | Promise<readonly string[]> {
    return this.#tags.owned(tags);
  }

  /** Forgets every look-up, because records have just been changed in this process. */
  forget(): void {
    this.#changes++;
    this.#remembered.clear();
    this.#tags.forget();
    this.tenants.forget();
    this.customers.forget();
  }

  async #load(
    presented: string,
    fingerprint: string,
    before: Remembered | undefined,
  ): Promise<KeyBase | undefined> {
    const changes = this.#changes;
    const found = await this.#stored.use(presented, fingerprint);
    const record = found?.record;
    const nowMs = this.#clock.now();
    const endMs = found === undefined ? Infinity : endOf(found);
    const isRefused = record === undefined || record.blocked || endMs <= nowMs;
    const isSame = before?.base !== undefined && isDeepStrictEqual(record, before.record);
    const base = isRefused ? undefined : isSame ? before.base : storedKey(record);
    if (changes === this.#changes) {
      if (this.#remembered.size >= MEMORY_ENTRIES) this.#remembered.clear();
      const untilMs = base === undefined ? nowMs + MEMORY_MS : Math.min(nowMs + MEMORY_MS, endMs);
      this.#remembered.set(fingerprint, { record, base, untilMs });
    }
    return base;
  }
}

/**
 * When the presented secret ends: with the key, and the one from before a rotation with its
 * overlap.
 */
function endOf({ record, digest }: FoundKey): number {
  const keyEndMs = record.expiresAtMs ?? Infinity;
  return record.digest === digest ? keyEndMs : Math.min(keyEndMs, record.previousUntilMs ?? 0);
}
