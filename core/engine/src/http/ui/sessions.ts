/** Sessions of the dashboard: opened with a key, or with a code that the holder of one has made. */

import { randomBytes } from "node:crypto";
import type { SessionRecord, SessionStore } from "@sluice/contract";
import { GatewayError } from "@sluice/contract";
import { MASTER } from "../access/authenticate.ts";
import type { Principal } from "../access/may.ts";
import type { SessionParts } from "./session-parts.ts";
import { isOfMaster, personOf, principalOfSession } from "./session-principal.ts";
import { type Confirmation, confirm, isConfirmed } from "./confirmation.ts";

const IDLE_MS = 30 * 60_000;
const ABSOLUTE_MS = 12 * 3_600_000;
const CODE_MS = 60_000;
/** A session's use is noted this often at most. */
const SEEN_MS = 60_000;
const MAX_LISTED = 1_000;

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
    const principal = personOf(await principalOf(identity));
    return principal && this.#insert(principal, keyRing.digest(key), address);
  }

  /** A code that opens one session of the master key, once, within a minute. */
  async makeCode(key: string, address: string | null): Promise<string> {
    const { keyRing } = this.#parts;
    const code = randomBytes(16).toString("base64url");
    const credential = keyRing.digest(keyRing.fingerprint(key));
    await storeOf(this.#parts).insert({
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
    const record = await storeOf(this.#parts).take(this.#digest("code", code));
    if (record === undefined || record.address !== address) return undefined;
    const isValid =
      this.#parts.clock.now() < record.expiresAtMs && isOfMaster(record, this.#parts.keyRing);
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
    const principal = await principalOfSession(record, this.#parts);
    if (principal === undefined) return undefined;
    if (nowMs >= record.seenAtMs + SEEN_MS) await store?.seen(digest, nowMs);
    return this.#opened(record, principal, token);
  }

  /** Ends the session of a cookie. */
  async end(token: string): Promise<void> {
    await this.#parts.store?.take(this.#digest("session", token));
  }

  /** The sessions that count, the newest first. */
  async list(): Promise<readonly SessionRecord[]> {
    const nowMs = this.#parts.clock.now();
    const all = (await this.#parts.store?.list(MAX_LISTED)) ?? [];
    const open: SessionRecord[] = [];
    for (const record of all) {
      if (nowMs >= record.expiresAtMs || nowMs >= record.seenAtMs + IDLE_MS) continue;
      if ((await principalOfSession(record, this.#parts)) !== undefined) open.push(record);
    }
    return open;
  }

  /** Ends the sessions of some ids. Returns the ids of those that ended. */
  async endThose(isOne: (record: SessionRecord) => boolean): Promise<readonly string[]> {
    const ended: string[] = [];
    for (const record of (await this.list()).filter(isOne)) {
      if ((await this.#parts.store?.take(record.digest)) !== undefined) ended.push(record.id);
    }
    return ended;
  }

  /** As `confirm`, for the session of a cookie. */
  async confirm(token: string, key: string): Promise<Confirmation | undefined> {
    const record = await this.#parts.store?.find(this.#digest("session", token));
    return record && confirm(record, token, key, this.#parts);
  }

  /** Whether a value is one that `confirm` gave to the session of a cookie, and still counts. */
  isConfirmed(token: string, value: string): boolean {
    return isConfirmed(token, value, this.#parts);
  }

  async #insert(
    principal: Principal,
    credential: string,
    address: string | null,
  ): Promise<NewSession> {
    const { clock } = this.#parts;
    const token = randomBytes(32).toString("base64url");
    const store = storeOf(this.#parts);
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

  #digest(purpose: "session" | "code" | "csrf", text: string): string {
    return this.#parts.keyRing.digest(`${purpose}:${text}`);
  }
}

function storeOf({ store }: SessionParts): SessionStore {
  if (store !== undefined) return store;
  throw new GatewayError(
    "permission_denied",
    "The store of this gateway keeps no sessions, so the dashboard cannot be signed in to. Use a store that ships with it.",
  );
}
