/** Preloaded into a server that would listen on every network: keeps it on 127.0.0.1. */

import { Server } from "node:net";

type Listen = (this: Server, ...args: unknown[]) => Server;

const listen = Server.prototype.listen as Listen;

Server.prototype.listen = function listenOnLoopback(this: Server, ...args: unknown[]): Server {
  const callback = args.find((argument) => typeof argument === "function");
  return listen.call(this, args[0], "127.0.0.1", ...(callback === undefined ? [] : [callback]));
} as Listen as typeof Server.prototype.listen;
