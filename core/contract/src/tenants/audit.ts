/** The audit: one line for each change that an administrator makes, and for each refusal. */

import type { JsonObject } from "../json.ts";
import type { TenantScope } from "./records.ts";

/**
 * How an action ended. `begun`: it is about to be tried, and a line with its end follows. `done`:
 * it has taken effect. `refused`: the policy or a rule refused it. `failed`: it could not be done.
 */
export type AuditOutcome = "begun" | "done" | "refused" | "failed";

/** A line as the gateway writes it. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** The credential: `master`, `read_key` or the id of a key. */
  readonly actor: string;
  /** The user of the credential. */
  readonly userId: string | null;
  /** The session of a browser. */
  readonly session: string | null;
  /** The address of the client. */
  readonly address: string | null;
  /** `key.update`, `config.reload` and so on. */
  readonly action: string;
  /** `key:key_…`, `team:support` and so on; `null`: the gateway itself. */
  readonly object: string | null;
  /** The place of the object. */
  readonly organizationId: string | null;
  readonly teamId: string | null;
  readonly outcome: AuditOutcome;
  /** Values of the changed fields. Of secrets and of metadata: the name of the field alone. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly requestId: string | null;
}

/** A line of the chain. */
export interface AuditLine extends AuditEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  /** The hash of the line before; 64 zeros for the first. */
  readonly prevHash: string;
  /** SHA-256 of `auditText`, lower-case hexadecimal. */
  readonly hash: string;
}

/** Selects lines. A line must match all filters. */
export interface AuditQuery {
  readonly actor?: string;
  readonly userId?: string;
  readonly action?: string;
  readonly object?: string;
  readonly outcome?: AuditOutcome;
  /** Inclusive and exclusive, in milliseconds since 1970. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Only lines about objects of these places. */
  readonly within?: TenantScope;
  readonly order: "newest" | "oldest";
  /** Lines behind this one, in the order. */
  readonly after?: number;
  readonly limit: number;
}

/** The stored audit. Lines are never changed, and deleted by `prune` alone. */
export interface AuditStore {
  /** Appends a line. Rejects when it is not written. */
  append(entry: AuditEntry): Promise<void>;
  list(query: AuditQuery): Promise<readonly AuditLine[]>;
  /** The last line; `undefined` without one. */
  head(): Promise<Pick<AuditLine, "seq" | "hash"> | undefined>;
  /**
   * Deletes some of the lines from before a time, the first ones, with a line about it in the same
   * transaction: `entryOf` makes it of the last one that goes. Returns how many lines went; 0: no
   * more are old. Absent: lines stay.
   */
  prune?(
    beforeMs: number,
    entryOf: (last: Pick<AuditLine, "seq" | "hash">) => AuditEntry,
  ): Promise<number>;
}

/** The line about deleted lines, without its time and `after`: `{ through, hash }` of the last. */
export const AUDIT_PRUNED: Omit<AuditEntry, "atMs" | "after"> = Object.freeze({
  actor: "gateway",
  userId: null,
  session: null,
  address: null,
  action: "audit.prune",
  object: null,
  organizationId: null,
  teamId: null,
  outcome: "done",
  before: null,
  requestId: null,
});

/** The `prevHash` of the first line. */
export const AUDIT_START: string = "0".repeat(64);

/**
 * What the hash of a line is made from: `prevHash`, and the JSON array of its other members in this
 * order, without white space. It binds the line to all lines before it.
 */
export function auditText(line: Omit<AuditLine, "hash">): string {
  const canonical = JSON.stringify([
    line.seq,
    line.atMs,
    line.actor,
    line.userId,
    line.session,
    line.address,
    line.action,
    line.object,
    line.organizationId,
    line.teamId,
    line.outcome,
    line.before,
    line.after,
    line.requestId,
  ]);
  return line.prevHash + canonical;
}
