/** The audit: one log line for each change that an administrator makes. */

import type { Log } from "@sluice/contract";

/** A change by an administrator. */
export interface AuditEntry {
  /** `key.update`, `team.delete` and so on. */
  readonly action: string;
  readonly keyId?: string;
  readonly teamId?: string;
  readonly deployment?: string;
  /** The author's name, as the request gives it. */
  readonly author?: string | undefined;
  /** Names of the fields that were set; never their values. */
  readonly fields?: readonly string[];
}

/** Writes the line. Only the master key can change anything, so the actor is always `master`. */
export function audit(
  log: Log,
  { action, keyId, teamId, deployment, author, fields }: AuditEntry,
): void {
  log.info("audit", {
    actor: "master",
    action,
    ...(author !== undefined && { author }),
    ...(keyId !== undefined && { key_id: keyId }),
    ...(teamId !== undefined && { team_id: teamId }),
    ...(deployment !== undefined && { deployment }),
    ...(fields !== undefined && { fields }),
  });
}
