/** Back-pressure of a client. */

import type { ServerResponse } from "node:http";

/** Resolves when the client has read its backlog, or is gone. */
export function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
