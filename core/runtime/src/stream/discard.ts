/** Releases replies that are not read. */

import type { Reply } from "@sluice/contract";

/**
 * Ends a reply that is not written: its upstream is released and its attempt settled. A whole reply
 * holds no resources.
 */
export async function discardReply(reply: Reply | undefined): Promise<void> {
  if (reply?.kind === "stream") await reply.frames[Symbol.asyncIterator]().return?.();
  else if (reply?.kind === "bytes") await reply.body[Symbol.asyncIterator]().return?.();
}
