/** One server has all keys. */

import {
  type Connection,
  type ConnectionOptions,
  createConnection,
} from "../connection/connection.ts";
import { entryPattern, scanOf } from "./scan.ts";
import type { Place, Servers } from "./servers.ts";

/** The server at a connection's endpoints. All names begin with `prefix`. */
export function createSingleServer(options: ConnectionOptions, prefix: string): Servers {
  const connection: Connection = createConnection(options);
  const place: Place = { prefix, slot: 0 };
  return {
    isCluster: false,
    get life() {
      return connection.runId;
    },
    open: (signal) => connection.open(signal),
    close: () => connection.close(),
    place: () => place,
    pattern: (begin) => entryPattern(prefix, begin),
    // The prefix stands for all keys: it is what the rules of an ACL user name.
    run: (script, _place, _keys, ...parts) =>
      connection.run(script, { keys: [prefix], prefix, parts }),
    command: (_place, ...parts) => connection.command(...parts),
    scan: (pattern) => scanOf(connection, pattern),
    async probe() {
      // A write: a replica answers reads.
      await connection.command("SET", `${prefix}probe`, "1", "PX", "1000");
    },
    // The next call says it.
    watch: () => {},
  };
}
