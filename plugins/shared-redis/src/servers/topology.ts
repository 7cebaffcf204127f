/** The topology of a cluster: which node has which slots. */

import { errorMessage } from "@sluice/contract";
import type { Login, ServerAddress } from "../connection/endpoints.ts";
import { SingleSocketClient } from "../connection/socket-client.ts";
import { SLOTS } from "./slots.ts";

/** The addresses of masters, by slot. */
export type Topology = readonly string[];

/**
 * Asks the nodes at these addresses, one after the other. Rejects with the reason of each when none
 * answers; each has the deadline of a connection.
 */
export async function askTopology(
  addresses: Iterable<string>,
  login: Login,
  timeoutMs: number,
): Promise<Topology> {
  const library = await import("@redis/client");
  const reasons: string[] = [];
  for (const address of addresses) {
    try {
      const client = new SingleSocketClient(library, addressOfText(address), login, timeoutMs);
      return readTopology(await client.ask("CLUSTER", "SLOTS"), address);
    } catch (error) {
      reasons.push(`${address}: ${errorMessage(error)}`);
    }
  }
  throw new Error(`No node describes the cluster: ${reasons.join("; ")}.`);
}

/**
 * Reads the reply to `CLUSTER SLOTS` of the node at `asked`. Throws `Error` for slots without a
 * node.
 */
function readTopology(reply: unknown, asked: string): Topology {
  const owners: string[] = Array.from({ length: SLOTS }, () => "");
  for (const range of reply as readonly (readonly unknown[])[]) {
    const [from, to, master] = range as [number, number, readonly unknown[]];
    const address = addressText(master, asked);
    for (let slot = Number(from); slot <= Number(to); slot += 1) owners[slot] = address;
  }
  const lacking = owners.indexOf("");
  if (lacking !== -1) throw new Error(`CLUSTERDOWN No node has the slot ${lacking}.`);
  return owners;
}

/** `MOVED 3999 127.0.0.1:6381` and `ASK 3999 127.0.0.1:6381`: where the slot is. */
export function readRedirect(
  text: string,
  asked: string,
): { readonly kind: "MOVED" | "ASK"; readonly slot: number; readonly address: string } | undefined {
  const [, kind, slot, host = "", port] = /^(MOVED|ASK) (\d+) (.*):(\d+)\b/.exec(text) ?? [];
  if (kind === undefined) return undefined;
  return {
    kind: kind as "MOVED" | "ASK",
    slot: Number(slot),
    address: host === "" ? `${hostOf(asked)}:${port}` : `${host}:${port}`,
  };
}

/** A key's address as text, and back. */
export function addressOfText(text: string): ServerAddress {
  const at = text.lastIndexOf(":");
  return { host: text.slice(0, at), port: Number(text.slice(at + 1)) };
}

/** A node that does not know its own name is at the address that was asked. */
function addressText([host, port]: readonly unknown[], asked: string): string {
  const name = host === null || host === undefined ? "" : String(host);
  return `${name === "" || name === "?" ? hostOf(asked) : name}:${String(port)}`;
}

function hostOf(address: string): string {
  return addressOfText(address).host;
}
