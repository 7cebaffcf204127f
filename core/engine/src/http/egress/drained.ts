/** Back-pressure of a client. */

import type { Outgoing } from "./outgoing.ts";

/** Resolves when the client has read its backlog, or is gone. */
export function drained(response: Outgoing): Promise<void> {
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
