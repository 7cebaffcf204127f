/** Writes the head of the audit's chain into the log, so that a cut end of the chain shows. */

import type { AuditStore, Log } from "@sluice/contract";

const HOUR_MS = 3_600_000;

/** Logs the head once an hour. Returns the function that ends it. */
export function watchAuditHead(audit: AuditStore | undefined, log: Log, everyMs = HOUR_MS) {
  const timer = setInterval(() => void logHead(audit, log), everyMs).unref();
  return (): void => clearInterval(timer);
}

async function logHead(audit: AuditStore | undefined, log: Log): Promise<void> {
  try {
    const head = await audit?.head();
    if (head !== undefined) log.info("audit head", { head: `${head.seq}:${head.hash}` });
  } catch (error) {
    log.warn("the head of the audit cannot be read", { error });
  }
}
