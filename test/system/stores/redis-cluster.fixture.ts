/** A Redis Cluster of a test's own, on free ports. */

import { execFileSync } from "node:child_process";
import { eventually } from "../support/eventually.ts";
import { freePort, type RedisServer, type RedisServers } from "./redis-servers.fixture.ts";

const SLOTS = 16_384;
/** A node without an answer for so long has failed. */
const NODE_TIMEOUT_MS = 1_000;

/** A node of a cluster. */
export interface ClusterNode {
  readonly port: number;
  readonly server: RedisServer;
  readonly id: string;
}

/** A running cluster. */
export interface RedisCluster {
  /** Each with a third of the slots. */
  readonly masters: readonly ClusterNode[];
  /** One of each master, where the cluster has replicas. */
  readonly replicas: readonly ClusterNode[];
  readonly addresses: readonly string[];
  /** Moves a slot with its keys, as `redis-cli --cluster reshard` does. */
  moveSlot(slot: number, from: ClusterNode, to: ClusterNode): void;
  /** The nodes that the cluster lists as masters without a fault, by port. */
  masterPorts(asked: ClusterNode): readonly number[];
}

/** Runs a command on the node of a port. */
export function redisCli(port: number, ...parts: readonly string[]): string {
  return execFileSync("redis-cli", ["-p", String(port), ...parts], { encoding: "utf8" }).trim();
}

/** Starts three masters, with a replica each if wanted, and waits until they serve all slots. */
export async function startCluster(
  servers: RedisServers,
  { hasReplicas = false, lines = [] as readonly string[] } = {},
): Promise<RedisCluster> {
  const start = async (): Promise<ClusterNode> => {
    const [port, bus] = [await freePort(), await freePort()];
    const own = [
      "cluster-enabled yes",
      `cluster-config-file nodes-${port}.conf`,
      `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
      `cluster-port ${bus}`,
      "cluster-replica-validity-factor 0",
      ...lines,
    ];
    const server = await servers.start(own, { port });
    return { port, server, id: redisCli(port, "CLUSTER", "MYID") };
  };
  const masters = [await start(), await start(), await start()];
  const replicas = hasReplicas ? [await start(), await start(), await start()] : [];
  const [first] = masters as [ClusterNode];
  const nodes = [...masters, ...replicas];
  for (const [at, { port }] of masters.entries()) {
    const [from, to] = [at, at + 1].map((part) => Math.floor((SLOTS * part) / masters.length));
    redisCli(port, "CLUSTER", "ADDSLOTSRANGE", String(from), String(to! - 1));
  }
  const busOf = (port: number): string =>
    redisCli(port, "CONFIG", "GET", "cluster-port").split("\n")[1]!;
  for (const { port } of nodes.slice(1))
    redisCli(first.port, "CLUSTER", "MEET", "127.0.0.1", String(port), busOf(port));
  const knows = (port: number, count: number): boolean =>
    redisCli(port, "CLUSTER", "INFO").includes(`cluster_known_nodes:${count}`);
  await eventually("the nodes' acquaintance", () =>
    nodes.every(({ port }) => knows(port, nodes.length)),
  );
  for (const [at, { port }] of replicas.entries())
    redisCli(port, "CLUSTER", "REPLICATE", masters[at]!.id);
  await eventually("the cluster", () =>
    nodes.every(({ port }) => redisCli(port, "CLUSTER", "INFO").includes("cluster_state:ok")),
  );
  await eventually("the replicas", () =>
    replicas.every(({ port }) =>
      redisCli(port, "INFO", "replication").includes("master_link_status:up"),
    ),
  );
  return {
    masters,
    replicas,
    addresses: nodes.map(({ port }) => `127.0.0.1:${port}`),
    moveSlot(slot, from, to) {
      const at = String(slot);
      redisCli(to.port, "CLUSTER", "SETSLOT", at, "IMPORTING", from.id);
      redisCli(from.port, "CLUSTER", "SETSLOT", at, "MIGRATING", to.id);
      for (;;) {
        const keys = redisCli(from.port, "CLUSTER", "GETKEYSINSLOT", at, "10").split("\n");
        if (keys[0] === "") break;
        redisCli(
          from.port,
          "MIGRATE",
          "127.0.0.1",
          String(to.port),
          "",
          "0",
          "5000",
          "KEYS",
          ...keys,
        );
      }
      for (const { port } of [to, from, ...masters.filter((node) => node !== to && node !== from)])
        redisCli(port, "CLUSTER", "SETSLOT", at, "NODE", to.id);
    },
    masterPorts(asked) {
      return redisCli(asked.port, "CLUSTER", "NODES")
        .split("\n")
        .filter((line) => /\bmaster\b/.test(line) && !/fail/.test(line))
        .map((line) => Number(/:(\d+)@/.exec(line)?.[1]));
    },
  };
}
