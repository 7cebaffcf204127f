/** A Redis Cluster: each slot's keys are on one of its masters. */

import {
  type Connection,
  type ConnectionOptions,
  createConnection,
} from "../connection/connection.ts";
import type { ClusterEndpoints } from "../connection/endpoints.ts";
import { follow, type Redirects, type Send } from "./redirects.ts";
import { escapeGlob, scanOf } from "./scan.ts";
import type { Place, Servers } from "./servers.ts";
import { slotOf, tagText } from "./slots.ts";
import { addressOfText, askTopology } from "./topology.ts";

/** What a cluster is made with. */
export interface ClusterOptions extends Omit<ConnectionOptions, "endpoints"> {
  readonly endpoints: ClusterEndpoints;
}

/** Names that are tried for one whose slot is at a master. */
const MAX_NAMES = 10_000;
/** How often each master is asked whether it is there. */
const HEARTBEAT_MS = 1_000;

/** The nodes of a cluster. The braces of `prefix` are removed: names have tags of their own. */
export function createCluster(options: ClusterOptions, prefix: string): Servers {
  const nodes = new ClusterNodes(options);
  const base = prefix.replaceAll(/[{}]/g, "");
  return {
    isCluster: true,
    get life() {
      return nodes.life;
    },
    open: (signal) => nodes.open(signal),
    close: () => nodes.close(),
    place(tag): Place {
      const text = tagText(tag);
      return { prefix: `${base}{${text}}:`, slot: slotOf(text) };
    },
    pattern: (begin) => `${escapeGlob(base)}{*}:${escapeGlob(`x:${begin}`)}*`,
    run: (script, { prefix: own, slot }, keys, ...parts) =>
      nodes.route(slot, (connection, isAsking) =>
        connection.run(script, { keys, prefix: own, parts }, isAsking),
      ),
    command: ({ slot }, ...parts) =>
      nodes.route(slot, (connection, isAsking) => {
        if (isAsking) connection.command("ASKING").catch(() => undefined);
        return connection.command(...parts);
      }),
    async *scan(pattern) {
      for (const connection of nodes.masters()) yield* scanOf(connection, pattern);
    },
    probe: () => nodes.probe(`${base}{probe`),
    watch: (report) => nodes.watch(report),
  };
}

interface Node {
  readonly connection: Connection;
  /** Resolves with the first attempt to connect. */
  readonly opened: Promise<void>;
}

/** The connections to the masters, and which slots they have. */
class ClusterNodes {
  readonly #options: ClusterOptions;
  readonly #nodes = new Map<string, Node>();
  /** Addresses by slot. Empty before the first answer. */
  #owners: string[] = [];
  #refresh: Promise<void> | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #report: (reason: Error) => void = () => {};
  readonly #redirects: Redirects = {
    ownerOf: (slot) => this.#owners[slot],
    connectionTo: (address) => this.#connectionTo(address),
    moved: (slot, address) => void (this.#owners[slot] = address),
    refresh: () => void this.#refreshed().catch(() => undefined),
  };

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  get life(): string {
    return this.masters()
      .map(({ runId }) => runId)
      .toSorted()
      .join(" ");
  }

  async open(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#heartbeat ??= setInterval(() => this.#askAll(), HEARTBEAT_MS).unref();
    await this.#refreshed();
    await Promise.all([...this.#nodes.values()].map(({ opened }) => opened));
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
    const nodes = [...this.#nodes.values()];
    this.#nodes.clear();
    this.#owners = [];
    await Promise.all(nodes.map(({ connection }) => connection.close()));
  }

  watch(report: (reason: Error) => void): void {
    this.#report = report;
  }

  masters(): Connection[] {
    return [...this.#nodes.values()].map(({ connection }) => connection);
  }

  /** Sends a call to the node of a slot, and on to where the slot has moved. */
  route(slot: number, send: Send): Promise<unknown> {
    const address = this.#owners[slot];
    if (address === undefined) return Promise.reject(new Error("No node of the cluster is known."));
    const call = { slot, owner: address, send };
    const node = this.#nodes.get(address);
    if (node?.connection.isReady !== true) return follow(call, this.#redirects);
    return send(node.connection, false).catch((error: unknown) =>
      follow(call, this.#redirects, error),
    );
  }

  /** Asks for the topology, connects to its masters, and writes to each. */
  async probe(begin: string): Promise<void> {
    await this.#refreshed();
    await Promise.all(
      [...this.#nodes].map(async ([address, { connection, opened }]) => {
        // The first attempt may have failed, and a later one not.
        if (!connection.isReady) await opened;
        await connection.command("SET", this.#nameAt(address, begin), "1", "PX", "1000");
      }),
    );
  }

  async #connectionTo(address: string): Promise<Connection> {
    const known = this.#nodes.get(address);
    if (known?.connection.isReady === true) return known.connection;
    const { connection, opened } = known ?? this.#open(address);
    await opened;
    return connection;
  }

  #open(address: string): Node {
    const connection = createConnection({
      ...this.#options,
      endpoints: {
        kind: "server",
        address: addressOfText(address),
        login: this.#options.endpoints.login,
      },
      isOfCluster: true,
      onBroken: (reason) => {
        if (this.#nodes.get(address)?.connection === connection) this.#report(reason);
      },
    });
    const opened = connection.open(new AbortController().signal);
    opened.catch(() => undefined);
    const node = { connection, opened };
    this.#nodes.set(address, node);
    return node;
  }

  /** Reads the topology once for all that ask meanwhile. */
  #refreshed(): Promise<void> {
    this.#refresh ??= this.#read().finally(() => (this.#refresh = undefined));
    return this.#refresh;
  }

  async #read(): Promise<void> {
    const { endpoints, connectTimeoutMs } = this.#options;
    const given = endpoints.nodes.map(({ host, port }) => `${host}:${port}`);
    const asked = new Set([...this.#nodes.keys(), ...given]);
    const owners = await askTopology(asked, endpoints.login, connectTimeoutMs);
    if (this.#heartbeat !== undefined) this.#use(owners);
  }

  #use(owners: readonly string[]): void {
    this.#owners = [...owners];
    const masters = new Set(owners);
    for (const address of masters) if (!this.#nodes.has(address)) this.#open(address);
    for (const [address, { connection }] of this.#nodes) {
      if (masters.has(address)) continue;
      this.#nodes.delete(address);
      void connection.close();
    }
  }

  /** A master that hangs is lost for all gateways within the same second. */
  #askAll(): void {
    for (const { connection } of this.#nodes.values())
      connection.command("PING").catch((error: unknown) => this.#report(error as Error));
  }

  /** A name whose slot is at a master. */
  #nameAt(address: string, begin: string): string {
    const tag = begin.slice(begin.indexOf("{") + 1);
    for (let number = 0; number < MAX_NAMES; number += 1)
      if (this.#owners[slotOf(`${tag}${number}`)] === address) return `${begin}${number}}`;
    // A master of a few slots: any name says whether the cluster serves.
    return `${begin}}`;
  }
}
