/**
 * The attacker of `proof:bodies`. It has the lowest priority: on a small machine it takes no core
 * from the gateway. While the quiet latencies are taken it computes instead.
 */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setPriority } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ATTACKS, type Upload } from "./attacks.ts";
import { obey } from "./part.ts";

const LOWEST_PRIORITY = 19;
/** How long the innocent load computes before it looks for orders, in milliseconds. */
const BURN_MS = 20;

/** Computes, rests, attacks again and again, or ends the attack. */
export type AttackerOrder =
  | { readonly todo: "burn" | "rest" | "end" }
  | { readonly todo: "attack"; readonly url: string; readonly key: string; readonly index: number };

/** The replies so far, by status. */
export type AttackerSaid = Readonly<Record<string, number>>;

const innocent = { isBurning: false };
const attacks = { areRunning: false };
let statuses: Record<string, number> = {};
let sockets = new Set<Socket>();

async function send(socket: Socket, head: string, upload: Upload): Promise<void> {
  await once(socket, "connect");
  socket.write(head);
  for (const piece of upload.pieces()) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) await once(socket, "drain");
  }
}

/** One upload. Resolves when its connection is closed. */
async function attack(url: string, key: string, upload: Upload): Promise<void> {
  const { port, hostname } = new URL(url);
  const length =
    upload.bytes === undefined ? "transfer-encoding: chunked" : `content-length: ${upload.bytes}`;
  const head = `POST ${upload.path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nconnection: close\r\n${length}\r\n\r\n`;
  const socket = connect(Number(port), hostname);
  sockets.add(socket);
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(String(chunk)) ?? [];
    if (status !== undefined) statuses[status] = (statuses[status] ?? 0) + 1;
  });
  send(socket, head, upload).catch(() => undefined);
  await closed;
  sockets.delete(socket);
}

/** Each client uploads again when its connection is closed, until the attack ends. */
function begin(url: string, key: string, index: number): void {
  const [, clients, upload] = ATTACKS[index] ?? [];
  if (clients === undefined || upload === undefined) throw new Error(`No attack ${index}.`);
  attacks.areRunning = true;
  statuses = {};
  for (let client = 0; client < clients; client += 1) {
    void (async () => {
      while (attacks.areRunning) await attack(url, key, upload);
    })();
  }
}

async function burn(): Promise<void> {
  innocent.isBurning = true;
  while (innocent.isBurning) {
    const untilMs = performance.now() + BURN_MS;
    while (performance.now() < untilMs);
    await nextTurn();
  }
}

setPriority(LOWEST_PRIORITY);
obey<AttackerOrder, AttackerSaid>(async (order) => {
  if (order.todo === "burn") void burn();
  else if (order.todo === "rest") innocent.isBurning = false;
  else if (order.todo === "attack") begin(order.url, order.key, order.index);
  else {
    attacks.areRunning = false;
    for (const socket of sockets) socket.destroy();
    sockets = new Set();
  }
  return statuses;
});
