/** Lets go of replies that nobody will read. */

import type { Reply } from "@sluice/spec";

/** Ends a reply that is not going to be written: its upstream is released and its attempt settled. A whole reply holds nothing. */
export async function discardReply(reply: Reply | undefined): Promise<void> {
  if (reply?.kind === "stream") await reply.frames[Symbol.asyncIterator]().return?.();
  else if (reply?.kind === "bytes") await reply.body[Symbol.asyncIterator]().return?.();
}
