/** Appends lines to the audit, within the transaction of the change that they record. */

import { AUDIT_START, type AuditEntry, auditText } from "@sluice/contract";
import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";

const INSERT = `insert into audit (seq, at_ms, actor, user_id, session, address, action, object,
  organization_id, team_id, outcome, before, after, request_id, prev_hash, hash)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * A function that appends a line to the audit of a database. Its caller holds the file's write
 * lock: the line follows the last one of all processes.
 */
export function createAuditAppend(database: DatabaseSync): (entry: AuditEntry) => void {
  const last = database.prepare("select seq, hash from audit order by seq desc limit 1");
  const insert = database.prepare(INSERT);
  return (entry) => {
    const head = last.get();
    const seq = Number(head?.["seq"] ?? 0) + 1;
    const prevHash = String(head?.["hash"] ?? AUDIT_START);
    const row = { ...entry, seq, prevHash };
    insert.run(
      seq,
      row.atMs,
      row.actor,
      row.userId,
      row.session,
      row.address,
      row.action,
      row.object,
      row.organizationId,
      row.teamId,
      row.outcome,
      row.before === null ? null : JSON.stringify(row.before),
      row.after === null ? null : JSON.stringify(row.after),
      row.requestId,
      prevHash,
      hash("sha256", auditText(row), "hex"),
    );
  };
}
