/** Sessions of browsers on the admin listener, and the codes that open one. */

/** A session, or a code for one. What the browser holds is not stored. */
export interface SessionRecord {
  /** Names it in lists and in the audit, and opens nothing. */
  readonly id: string;
  /** A `code` can be exchanged once for a session. */
  readonly kind: "session" | "code";
  /** HMAC-SHA-256 of the secret under the installation's pepper, lower-case hexadecimal. */
  readonly digest: string;
  /** The credential that opened it: `master`, or the id of a key. */
  readonly actor: string;
  /** A digest of that credential's secret. The session ends when the secret is replaced. */
  readonly credential: string;
  /** A digest of the master key at that time. The session ends when the master key changes. */
  readonly master: string;
  /** The address that opened it. */
  readonly address: string | null;
  /** Milliseconds since 1970, as the others. */
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  readonly expiresAtMs: number;
}

/** Stored sessions. All processes of a gateway see the same ones. */
export interface SessionStore {
  insert(record: SessionRecord): Promise<void>;
  find(digest: string): Promise<SessionRecord | undefined>;
  /** Notes that a session was used. */
  seen(digest: string, atMs: number): Promise<void>;
  /** Deletes one. Of several callers at once, a single one gets the record. */
  take(digest: string): Promise<SessionRecord | undefined>;
  /** Sessions, without codes; the newest first. */
  list(limit: number): Promise<readonly SessionRecord[]>;
  /** Deletes those that ended, and those that were last used before `idleSinceMs`. */
  expire(nowMs: number, idleSinceMs: number): Promise<void>;
}
