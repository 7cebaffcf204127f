/** Sessions of the dashboard: opened with a key, or with a code that the holder of one has made. */

import { randomBytes } from "node:crypto";
import type { Clock, Identity, KeyRecord, SessionRecord, SessionStore } from "@sluice/contract";
import { GatewayError } from "@sluice/contract";
import type { KeyRing } from "../../resources/key-ring.ts";
import { MASTER } from "../access/authenticate.ts";
import type { Principal } from "../access/may.ts";

const IDLE_MS = 30 * 60_000;
const ABSOLUTE_MS = 12 * 3_600_000;
const CODE_MS = 60_000;
/** A session's use is noted this often at most. */
const SEEN_MS = 60_000;

/** What sessions are made from. */
export interface SessionParts {
  /** Absent: the store keeps none. */
  readonly store: SessionStore | undefined;
  readonly keyRing: Pick<
    KeyRing,
    | "digest"
    | "identify"
    | "recordOf"
    | "identifyRecord"
    | "masterDigest"
    | "isMasterDigest"
    | "isMaster"
    | "fingerprint"
  >;
  readonly keys: { find(id: string): Promise<KeyRecord | undefined> };
  readonly principalOf: (identity: Identity) => Promise<Principal | undefined>;
  readonly clock: Clock;
}

/** A session that counts. */
export interface OpenSession {
  readonly id: string;
  readonly principal: Principal;
  /** What the browser repeats in `x-sluice-csrf`. */
  readonly csrf: string;
  readonly expiresAtMs: number;
}

/** A session that was opened now. */
export interface NewSession extends OpenSession {
  /** The value of the cookie. */
  readonly token: string;
}

/** Opens, finds and ends sessions. Secrets are kept as digests alone. */
export class Sessions {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** How long a browser keeps the cookie, in seconds. */
  readonly maxAgeS = ABSOLUTE_MS / 1_000;

  /** Opens one with a key; `undefined` for every key that opens none. */
  async open(key: string, address: string | null): Promise<NewSession | undefined> {
    const { keyRing, principalOf } = this.#parts;
    const identity = await keyRing.identify(key);
    if (identity === undefined) return undefined;
    if (identity.kind === "master")
      return this.#insert(MASTER, keyRing.digest(keyRing.fingerprint(key)), address);
    const principal = await principalOf(identity);
    return principal && this.#insert(principal, keyRing.digest(key), address);
  }

  /** A code that opens one session of the master key, once, within a minute. */
  async makeCode(key: string, address: string | null): Promise<string> {
    const { keyRing } = this.#parts;
    const code = randomBytes(16).toString("base64url");
    const credential = keyRing.digest(keyRing.fingerprint(key));
    await this.#store().insert({
      ...this.#record("code", MASTER, credential, address),
      digest: this.#digest("code", code),
    });
    return code;
  }

  /**
   * Opens a session with a code; `undefined` for one that is unknown, used, late or from another
   * address.
   */
  async openByCode(code: string, address: string | null): Promise<NewSession | undefined> {
    const record = await this.#store().take(this.#digest("code", code));
    if (record === undefined || record.address !== address) return undefined;
    const isValid = this.#parts.clock.now() < record.expiresAtMs && this.#isMaster(record);
    return isValid ? this.#insert(MASTER, record.credential, address) : undefined;
  }

  /** The session of a cookie; `undefined` for one that ended. */
  async find(token: string): Promise<OpenSession | undefined> {
    const { store, clock } = this.#parts;
    const digest = this.#digest("session", token);
    const record = await store?.find(digest);
    const nowMs = clock.now();
    if (record === undefined || nowMs >= record.expiresAtMs) return undefined;
    if (nowMs >= record.seenAtMs + IDLE_MS) return undefined;
    const principal = await this.#principalOf(record);
    if (principal === undefined) return undefined;
    if (nowMs >= record.seenAtMs + SEEN_MS) await store?.seen(digest, nowMs);
    return this.#opened(record, principal, token);
  }

  /** Ends the session of a cookie. */
  async end(token: string): Promise<void> {
    await this.#parts.store?.take(this.#digest("session", token));
  }

  async #insert(
    principal: Principal,
    credential: string,
    address: string | null,
  ): Promise<NewSession> {
    const { clock } = this.#parts;
    const token = randomBytes(32).toString("base64url");
    const store = this.#store();
    const nowMs = clock.now();
    await store.expire(nowMs, nowMs - IDLE_MS);
    const record = {
      ...this.#record("session", principal, credential, address),
      digest: this.#digest("session", token),
    };
    await store.insert(record);
    return { ...this.#opened(record, principal, token), token };
  }

  #record(
    kind: SessionRecord["kind"],
    { keyId }: Principal,
    credential: string,
    address: string | null,
  ): Omit<SessionRecord, "digest"> {
    const { clock, keyRing } = this.#parts;
    const nowMs = clock.now();
    return {
      id: `ses_${randomBytes(9).toString("base64url")}`,
      kind,
      actor: keyId,
      credential,
      master: keyRing.masterDigest(),
      address,
      createdAtMs: nowMs,
      seenAtMs: nowMs,
      expiresAtMs: nowMs + (kind === "code" ? CODE_MS : ABSOLUTE_MS),
    };
  }

  #opened(record: SessionRecord, principal: Principal, token: string): OpenSession {
    return {
      id: record.id,
      principal: { ...principal, session: record.id },
      csrf: this.#digest("csrf", token),
      expiresAtMs: record.expiresAtMs,
    };
  }

  /** Whose the session is now: a key that was blocked, rotated or lost its roles opens nothing. */
  async #principalOf(record: SessionRecord): Promise<Principal | undefined> {
    const { keyRing, keys, principalOf, clock } = this.#parts;
    if (record.master !== keyRing.masterDigest()) return undefined;
    if (record.actor === MASTER.keyId) return this.#isMaster(record) ? MASTER : undefined;
    const key = await keys.find(record.actor);
    if (key === undefined) return undefined;
    const isPresent = key.digest === record.credential;
    const isPrevious =
      key.previousDigest === record.credential && clock.now() < (key.previousUntilMs ?? 0);
    if (!isPresent && !isPrevious) return undefined;
    const identity = await keyRing.identifyRecord(key);
    return identity && principalOf(identity);
  }

  #isMaster({ credential, master }: SessionRecord): boolean {
    const { keyRing } = this.#parts;
    return master === keyRing.masterDigest() && keyRing.isMasterDigest(credential);
  }

  #digest(purpose: "session" | "code" | "csrf", text: string): string {
    return this.#parts.keyRing.digest(`${purpose}:${text}`);
  }

  #store(): SessionStore {
    const { store } = this.#parts;
    if (store !== undefined) return store;
    throw new GatewayError(
      "permission_denied",
      "The store of this gateway keeps no sessions, so the dashboard cannot be signed in to. Use a store that ships with it.",
    );
  }
}
