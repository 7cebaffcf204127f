/** Closes replies that will not be written, also after a step has changed them. */

import { within } from "@sluice/kit";
import { discardReply } from "@sluice/runtime";
import type { Reply } from "@sluice/contract";

/** How long a reply may take to end. */
const MAX_WAIT_MS = 250;

/**
 * Closes each reply, the outermost first. Returns the errors and never rejects, so that rows do not
 * wait for a broken reply.
 */
export async function closeReplies(replies: readonly Reply[]): Promise<readonly unknown[]> {
  const faults: unknown[] = [];
  for (const reply of replies) {
    if (reply.kind === "whole") continue;
    try {
      await within(MAX_WAIT_MS, discardReply(reply), () => {
        throw new Error(`The reply did not end within ${MAX_WAIT_MS} ms.`);
      });
    } catch (error) {
      faults.push(error);
    }
  }
  return faults;
}
