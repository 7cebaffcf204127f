/**
 * The key ring: keys to identities, from the master key and the store with its teams, with a short
 * memory.
 */

import { hash } from "node:crypto";
import type { Clock, Identity, KeyRecord, KeyStore, Log, TeamStore } from "@sluice/contract";
import { identityOf, memberOf } from "./key-identity.ts";
import { MasterKeys, type PreviousMaster, type PreviousMasterUse } from "./master-keys.ts";
import { type FoundKey, StoredKeys } from "./stored-keys.ts";
import { MEMORY_ENTRIES, MEMORY_MS, OwnedTags } from "./owned-tags.ts";

/** What a key ring is made from. */
export interface KeyRingOptions {
  readonly pepper: Buffer;
  readonly masterKey: string;
  readonly keys: Pick<KeyStore, "findByDigest" | "replaceDigest" | "ownedTags">;
  readonly teams: Pick<TeamStore, "find">;
  readonly clock: Clock;
  /** Absent: nothing is logged. */
  readonly log?: Log;
  /** The master key from before a rotation. Absent, and `undefined`: there is none. */
  readonly previousMaster?: (() => PreviousMaster | undefined) | undefined;
}

/** Teams that the configuration declares: they win over those of the store. */
export interface TeamsOfFile {
  has(id: string): boolean;
  /** The key as a member of its team; `undefined` while the team is blocked. */
  join(identity: Identity): Identity | undefined;
}

interface Remembered {
  readonly identity: Identity | undefined;
  readonly teamId?: string | undefined;
  /** The identity is the key's alone: the configuration that asked declares its team. */
  readonly isAlone?: boolean;
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

/**
 * Finds the identity of a key. It never holds a key: hashes compare and look up without telling
 * anything of one.
 */
export class KeyRing {
  readonly #master: MasterKeys;
  readonly #stored: StoredKeys;
  readonly #teams: KeyRingOptions["teams"];
  readonly #clock: Clock;
  readonly #remembered = new Map<string, Remembered>();
  readonly #tags: OwnedTags;
  /** Declared keys as members of their teams. */
  #members = new WeakMap<Identity, Remembered>();
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor(options: KeyRingOptions) {
    this.#stored = new StoredKeys(options);
    this.#tags = new OwnedTags(options.keys, options.clock);
    this.#teams = options.teams;
    this.#clock = options.clock;
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
   * The identity of a presented key; `undefined` for unknown, blocked and expired ones, and those
   * of a blocked team, alike. Who has the key's fingerprint already hands it in. `declared` are the
   * teams of the configuration that asks.
   */
  identify(
    presented: string,
    fingerprint = this.fingerprint(presented),
    declared?: TeamsOfFile,
  ): Identity | undefined | Promise<Identity | undefined> {
    if (this.#master.isPresent(fingerprint)) return MASTER;
    const remembered = this.#remembered.get(fingerprint);
    const isRemembered =
      remembered !== undefined &&
      this.#clock.now() < remembered.untilMs &&
      (remembered.isAlone ?? false) === isDeclared(remembered.teamId, declared);
    if (isRemembered && remembered.identity !== undefined)
      return remembered.isAlone === true
        ? declared?.join(remembered.identity)
        : remembered.identity;
    // An edit may name the key while it is remembered as unknown.
    if (this.#master.takesPrevious(fingerprint)) return MASTER;
    return isRemembered ? undefined : this.#load(presented, fingerprint, declared);
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

  /**
   * A declared key with what its team says: `undefined` while the team is blocked. A team that is
   * not in the store is a label for spend, and bounds nothing.
   */
  inTeam(
    declared: Identity & { readonly teamId: string },
  ): Identity | undefined | Promise<Identity | undefined> {
    const remembered = this.#members.get(declared);
    if (remembered !== undefined && this.#clock.now() < remembered.untilMs)
      return remembered.identity;
    return this.#join(declared);
  }

  /** The key of the store with a secret, whatever its state; `undefined` without one. */
  async recordOf(presented: string): Promise<KeyRecord | undefined> {
    return (await this.#stored.find(presented, this.fingerprint(presented)))?.record;
  }

  /** Whether a fingerprint is that of a master key, the previous one included. */
  isMaster(fingerprint: string): boolean {
    return this.#master.isOne(fingerprint);
  }

  /** Which of these tags stand on a record of the store. */
  ownedTags(tags: readonly string[]): readonly string[] | Promise<readonly string[]> {
    return this.#tags.owned(tags);
  }

  /** What a team's own list names; `undefined` when there is no such team. */
  async teamModels(teamId: string): Promise<readonly string[] | undefined> {
    return (await this.#teams.find(teamId))?.models;
  }

  /** Forgets every look-up, because keys or teams have just been changed in this process. */
  forget(): void {
    this.#changes++;
    this.#remembered.clear();
    this.#tags.forget();
    this.#members = new WeakMap();
  }

  async #load(
    presented: string,
    fingerprint: string,
    declared: TeamsOfFile | undefined,
  ): Promise<Identity | undefined> {
    const changes = this.#changes;
    const found = await this.#stored.use(presented, fingerprint);
    const record = found?.record;
    const teamId = record?.teamId ?? undefined;
    const isAlone = isDeclared(teamId, declared);
    const team = teamId === undefined || isAlone ? undefined : await this.#teams.find(teamId);
    const nowMs = this.#clock.now();
    const endMs = found === undefined ? Infinity : endOf(found);
    const isRefused = record === undefined || record.blocked || endMs <= nowMs;
    // A team that is gone took its keys with it: one that is left over opens nothing.
    const isTeamRefused = teamId !== undefined && !isAlone && (team?.blocked ?? true);
    const key = isRefused || isTeamRefused ? undefined : identityOf(record);
    const identity = key !== undefined && team !== undefined ? memberOf(key, team) : key;
    if (changes === this.#changes) {
      if (this.#remembered.size >= MEMORY_ENTRIES) this.#remembered.clear();
      const untilMs =
        identity === undefined ? nowMs + MEMORY_MS : Math.min(nowMs + MEMORY_MS, endMs);
      this.#remembered.set(fingerprint, { identity, teamId, isAlone, untilMs });
    }
    return identity !== undefined && isAlone ? declared?.join(identity) : identity;
  }

  async #join(declared: Identity & { readonly teamId: string }): Promise<Identity | undefined> {
    const changes = this.#changes;
    const team = await this.#teams.find(declared.teamId);
    const identity =
      team === undefined ? declared : team.blocked ? undefined : memberOf(declared, team);
    if (changes === this.#changes)
      this.#members.set(declared, { identity, untilMs: this.#clock.now() + MEMORY_MS });
    return identity;
  }
}

function isDeclared(teamId: string | undefined, declared: TeamsOfFile | undefined): boolean {
  return teamId !== undefined && declared?.has(teamId) === true;
}

/**
 * When the presented secret ends: with the key, and the one from before a rotation with its
 * overlap.
 */
function endOf({ record, digest }: FoundKey): number {
  const keyEndMs = record.expiresAtMs ?? Infinity;
  return record.digest === digest ? keyEndMs : Math.min(keyEndMs, record.previousUntilMs ?? 0);
}
