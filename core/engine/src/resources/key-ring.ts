/**
 * The key ring: keys to identities, from the master key and the store with its teams, with a short
 * memory.
 */

import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import type {
  Clock,
  Identity,
  KeyRecord,
  KeyStore,
  RecordLimits,
  TeamRecord,
  TeamStore,
} from "@sluice/contract";
import { MEMORY_ENTRIES, MEMORY_MS, OwnedTags } from "./owned-tags.ts";

/** What a key ring is made from. */
export interface KeyRingOptions {
  readonly pepper: Buffer;
  readonly masterKey: string;
  readonly keys: Pick<KeyStore, "findByDigest" | "ownedTags">;
  readonly teams: Pick<TeamStore, "find">;
  readonly clock: Clock;
  /** The master key from before a rotation. Absent, and `undefined`: there is none. */
  readonly previousMaster?: () => PreviousMaster | undefined;
}

/** A master key that is accepted beside the present one. */
export interface PreviousMaster {
  readonly key: { reveal(): string };
  /** In milliseconds since 1970. */
  readonly untilMs: number;
}

/** How often the previous master key was accepted by this process, and when it was last. */
export interface PreviousMasterUse {
  readonly count: number;
  readonly lastMs: number | undefined;
}

interface Remembered {
  readonly identity: Identity | undefined;
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
  readonly #pepper: KeyObject;
  readonly #masterFingerprint: string;
  readonly #keys: KeyRingOptions["keys"];
  readonly #teams: KeyRingOptions["teams"];
  readonly #clock: Clock;
  readonly #remembered = new Map<string, Remembered>();
  readonly #tags: OwnedTags;
  /** Declared keys as members of their teams. */
  #members = new WeakMap<Identity, Remembered>();
  readonly #previousMaster: NonNullable<KeyRingOptions["previousMaster"]>;
  #previousUse: PreviousMasterUse = { count: 0, lastMs: undefined };
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor(options: KeyRingOptions) {
    // A key object: from a buffer, Node makes one anew for every digest, at six times the cost.
    this.#pepper = createSecretKey(options.pepper);
    this.#keys = options.keys;
    this.#tags = new OwnedTags(options.keys, options.clock);
    this.#teams = options.teams;
    this.#clock = options.clock;
    this.#masterFingerprint = this.fingerprint(options.masterKey);
    this.#previousMaster = options.previousMaster ?? (() => undefined);
  }

  /**
   * HMAC-SHA-256 of a key under the pepper, hexadecimal. 1.2 µs: a random key of 256 bits needs no
   * slow hash.
   */
  digest(key: string): string {
    return createHmac("sha256", this.#pepper).update(key).digest("hex");
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
   * of a blocked team, alike. Who has the key's fingerprint already hands it in.
   */
  identify(
    presented: string,
    fingerprint = this.fingerprint(presented),
  ): Identity | undefined | Promise<Identity | undefined> {
    if (fingerprint === this.#masterFingerprint) return MASTER;
    const remembered = this.#remembered.get(fingerprint);
    const isRemembered = remembered !== undefined && this.#clock.now() < remembered.untilMs;
    if (isRemembered && remembered.identity !== undefined) return remembered.identity;
    // An edit may name the key while it is remembered as unknown.
    if (this.#isPreviousMaster(fingerprint)) {
      this.#previousUse = { count: this.#previousUse.count + 1, lastMs: this.#clock.now() };
      return MASTER;
    }
    return isRemembered ? undefined : this.#load(presented, fingerprint);
  }

  get previousMasterUse(): PreviousMasterUse {
    return this.#previousUse;
  }

  #isPreviousMaster(fingerprint: string): boolean {
    const previous = this.#previousMaster();
    if (previous === undefined || this.#clock.now() >= previous.untilMs) return false;
    return this.fingerprint(previous.key.reveal()) === fingerprint;
  }

  /**
   * The id of a key, whatever its state; `undefined` for what is no key. The one from before a
   * rotation counts.
   */
  async idOf(presented: string): Promise<string | undefined> {
    const fingerprint = this.fingerprint(presented);
    if (fingerprint === this.#masterFingerprint || this.#isPreviousMaster(fingerprint))
      return MASTER.keyId;
    return (await this.#keys.findByDigest(this.digest(presented)))?.id;
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

  async #load(presented: string, fingerprint: string): Promise<Identity | undefined> {
    const changes = this.#changes;
    const digest = this.digest(presented);
    const record = await this.#keys.findByDigest(digest);
    const teamId = record?.teamId ?? undefined;
    const team = teamId === undefined ? undefined : await this.#teams.find(teamId);
    const nowMs = this.#clock.now();
    const endMs = record === undefined ? Infinity : endOf(record, digest);
    const isRefused = record === undefined || record.blocked || endMs <= nowMs;
    // A team that is gone took its keys with it: one that is left over opens nothing.
    const isTeamRefused = teamId !== undefined && (team === undefined || team.blocked);
    const identity = isRefused || isTeamRefused ? undefined : identityOf(record, team);
    if (changes === this.#changes) {
      if (this.#remembered.size >= MEMORY_ENTRIES) this.#remembered.clear();
      const untilMs =
        identity === undefined ? nowMs + MEMORY_MS : Math.min(nowMs + MEMORY_MS, endMs);
      this.#remembered.set(fingerprint, { identity, untilMs });
    }
    return identity;
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

/**
 * When the presented secret ends: with the key, and the one from before a rotation with its
 * overlap.
 */
function endOf(record: KeyRecord, digest: string): number {
  const keyEndMs = record.expiresAtMs ?? Infinity;
  return record.digest === digest ? keyEndMs : Math.min(keyEndMs, record.previousUntilMs ?? 0);
}

function identityOf(record: KeyRecord, team: TeamRecord | undefined): Identity {
  const { spendScope, userId, teamId } = record;
  const hasScope = spendScope === "key" || (spendScope === "user" ? userId : teamId) !== null;
  const identity: Identity = {
    kind: "key",
    keyId: record.id,
    alias: record.alias ?? undefined,
    userId: userId ?? undefined,
    teamId: teamId ?? undefined,
    models: record.models,
    // A key without a user or team reads its own rows, not those of all keys without one.
    spendScope: hasScope ? spendScope : "key",
    tags: record.tags,
    ...(record.allowedTags.length === 0 ? {} : { allowedTags: record.allowedTags }),
    guardrails: record.guardrails,
    ...(record.passthrough ? { passthrough: true } : {}),
    metadata: record.metadata,
    limits: limitsOf(record),
  };
  return team === undefined ? Object.freeze(identity) : memberOf(identity, team);
}

function memberOf(identity: Identity, team: TeamRecord): Identity {
  const tags = [...new Set([...identity.tags, ...team.tags])];
  const guardrails = [...new Set([...(identity.guardrails ?? []), ...team.guardrails])];
  const allowed = [...(identity.allowedTags ?? []), ...team.allowedTags];
  const allowedTags = allowed.length === 0 ? {} : { allowedTags: allowed };
  const opened = identity.passthrough === true || team.passthrough ? { passthrough: true } : {};
  return Object.freeze({
    ...identity,
    ...opened,
    ...allowedTags,
    teamModels: team.models,
    teamLimits: limitsOf(team),
    tags,
    guardrails,
  });
}

/** The limits of a record; `undefined` when it has none. */
function limitsOf(record: RecordLimits): RecordLimits | undefined {
  const { maxBudgetNanoUsd, softBudgetNanoUsd, budgetDuration, rpm, tpm, maxParallelRequests } =
    record;
  const bounds = [maxBudgetNanoUsd, softBudgetNanoUsd, rpm, tpm, maxParallelRequests];
  if (bounds.every((bound) => bound === null)) return undefined;
  return Object.freeze({
    maxBudgetNanoUsd,
    softBudgetNanoUsd,
    budgetDuration,
    rpm,
    tpm,
    maxParallelRequests,
  });
}
