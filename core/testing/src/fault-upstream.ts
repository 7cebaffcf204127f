/**
 * An upstream on raw TCP that fails in every way of the catalogue, and remembers what it was asked
 * and what it billed.
 */

import { type AddressInfo, createServer, type Socket } from "node:net";
import { FAULTS } from "./fault-upstream-modes.ts";
import { type FaultRecord, Stage } from "./fault-upstream-stage.ts";

export { FAULTS, type Fault, type FaultOutcome } from "./fault-upstream-modes.ts";
export { GOOD_TEXT, GOOD_TOKENS, USAGE } from "./fault-upstream-stage.ts";
export type { FaultRecord } from "./fault-upstream-stage.ts";

/** A running fault upstream. */
export interface FaultUpstream {
  /** What a provider's `base_url` is. */
  readonly baseUrl: string;
  /** The truth ledger, in the order in which the requests arrived. */
  readonly requests: readonly FaultRecord[];
  /** TCP connections now, and since the start. */
  readonly connections: { readonly open: number; readonly opened: number };
  /** Drops every connection and stops listening. */
  close(): Promise<void>;
}

/** The mode that is no fault. */
export const GOOD_MODE = "good";

/**
 * Starts a fault upstream on 127.0.0.1 and a free port. The `model` of a request's body names the
 * mode: one of `FAULTS`; any other is answered well.
 */
export async function createFaultUpstream(): Promise<FaultUpstream> {
  const plays = new Map(FAULTS.map((fault) => [fault.mode, fault.play]));
  const requests: FaultRecord[] = [];
  const sockets = new Set<Socket>();
  let opened = 0;

  const server = createServer((socket) => {
    const connection = ++opened;
    let received: Buffer = Buffer.alloc(0);
    let record: FaultRecord | undefined;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      sockets.delete(socket);
      if (record !== undefined && record.closedHereAtMs === undefined)
        record.closedByPeerAtMs ??= Date.now();
    });
    socket.on("end", () => {
      if (record !== undefined && record.closedHereAtMs === undefined)
        record.closedByPeerAtMs ??= Date.now();
    });
    socket.on("data", (bytes) => {
      received = Buffer.concat([received, bytes]);
      for (;;) {
        const asked = takeRequest(received);
        if (asked === undefined) return;
        received = asked.rest;
        record = {
          ...asked.facts,
          number: requests.length + 1,
          connection,
          receivedAtMs: Date.now(),
          isReused: record !== undefined,
          answeredBytes: 0,
          reportedUsage: false,
          billedTokens: 0,
          closedByPeerAtMs: undefined,
          closedHereAtMs: undefined,
        };
        requests.push(record);
        const stage = new Stage(socket, record);
        void (plays.get(record.mode) ?? ((good: Stage) => good.good()))(stage);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get connections() {
      return { open: sockets.size, opened };
    },
    async close() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * Takes one whole request off the front. The mode of an early answer is in its first bytes: the
 * rest is not waited for.
 */
function takeRequest(
  bytes: Buffer,
): { facts: Pick<FaultRecord, "mode" | "stream" | "user">; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const bodyEnd = headEnd + 4 + length;
  const body = bytes.toString("utf8", headEnd + 4, bodyEnd);
  const mode = /"model": *"([^"]+)"/.exec(body)?.[1] ?? "";
  if (bytes.length < bodyEnd && !mode.startsWith("u51-")) return undefined;
  const user = /"user": *"([^"]+)"/.exec(body)?.[1] ?? "";
  return {
    facts: { mode, user, stream: /"stream": *true/.test(body) },
    rest: bytes.subarray(Math.min(bodyEnd, bytes.length)),
  };
}
