/**
 * A network of its own for one gateway: a network namespace with two links to this machine, one to
 * its clients and its upstream, one to its stores. The second one can be cut, as a switch that
 * fails does: packets are lost, and no connection is reset. Needs root.
 */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

const NAME = `slf${process.pid}`;

/** The network of one gateway. */
export interface OwnNetwork {
  /** The address of the gateway for its clients, and that of this machine for the gateway. */
  readonly gatewayHost: string;
  readonly frontHost: string;
  /** The address of this machine on the link to the stores. */
  readonly backHost: string;
  /** The words before a command that runs in it. */
  readonly prefix: readonly string[];
  /** Makes a port of this machine reachable on the link to the stores, under the same number. */
  relay(port: number): Promise<void>;
  /** Cuts the link to the stores. */
  cut(): void;
  mend(): void;
  remove(): Promise<void>;
}

const ip = (...words: readonly string[]): void => void execFileSync("ip", words, { stdio: "pipe" });

/** Makes the network. Throws where that is not permitted. */
export function createNetwork(): OwnNetwork {
  ip("netns", "add", NAME);
  const inside = (...words: readonly string[]): void => ip("-n", NAME, ...words);
  const link = (side: string, subnet: string): void => {
    const [outer, inner] = [`${NAME}${side}`, `${NAME}${side}i`];
    ip("link", "add", outer, "type", "veth", "peer", "name", inner);
    ip("link", "set", inner, "netns", NAME);
    ip("addr", "add", `${subnet}.1/30`, "dev", outer);
    inside("addr", "add", `${subnet}.2/30`, "dev", inner);
    ip("link", "set", outer, "up");
    inside("link", "set", inner, "up");
  };
  link("f", "10.213.7");
  link("b", "10.213.8");
  inside("link", "set", "lo", "up");
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  return {
    gatewayHost: "10.213.7.2",
    frontHost: "10.213.7.1",
    backHost: "10.213.8.1",
    prefix: ["ip", "netns", "exec", NAME],
    async relay(port) {
      const server = createServer((client) => {
        const service = connect(port, "127.0.0.1");
        for (const [one, other] of [
          [client, service],
          [service, client],
        ] as const) {
          sockets.add(one);
          one.on("error", () => other.destroy());
          one.on("close", () => (sockets.delete(one), other.destroy()));
          one.pipe(other);
        }
      });
      server.listen(port, "10.213.8.1");
      await once(server, "listening");
      servers.push(server);
    },
    cut: () => ip("link", "set", `${NAME}b`, "down"),
    mend() {
      ip("link", "set", `${NAME}b`, "up");
    },
    async remove() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
      ip("netns", "del", NAME);
      await Promise.resolve();
    },
  };
}
