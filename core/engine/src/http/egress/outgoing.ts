/** What the egress writes to: the response of a client, or what takes the reply in its place. */

import type { ServerResponse } from "node:http";

/** The part of a response that the egress uses. */
export interface Outgoing extends Pick<
  ServerResponse,
  "headersSent" | "statusCode" | "destroyed" | "writableEnded" | "writableNeedDrain"
> {
  writeHead(status: number, headers: string[]): unknown;
  /** Returns false where the writer has to wait for `drain`. */
  write(piece: string | Uint8Array, encoding?: BufferEncoding): boolean;
  end(): unknown;
  end(piece: string | Uint8Array, encoding?: BufferEncoding): unknown;
  cork(): void;
  uncork(): void;
  destroy(): unknown;
  on(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

/** Whether it is the response of a client. */
export function isResponse(outgoing: Outgoing): outgoing is ServerResponse {
  return "req" in outgoing;
}
