/**
 * undici, loaded when the first connection is made: a command that calls no upstream needs none.
 */

import { createRequire } from "node:module";

type Undici = Pick<typeof import("undici"), "Agent" | "buildConnector" | "Client" | "Pool">;

/** Where the package has them. Its index loads fetch, mocks and web sockets too: 13 MB. */
const FILES: Readonly<Record<keyof Undici, string>> = {
  Agent: "undici/lib/dispatcher/agent.js",
  buildConnector: "undici/lib/core/connect.js",
  Client: "undici/lib/dispatcher/client.js",
  Pool: "undici/lib/dispatcher/pool.js",
};

let loaded: Undici | undefined;

/** The classes of connections. Loads them synchronously, as a connection is made. */
export function undici(): Undici {
  return (loaded ??= load(createRequire(import.meta.url)));
}

function load(require: NodeJS.Require): Undici {
  const files = Object.entries(FILES).map(([name, file]): [string, unknown] => [
    name,
    require(file),
  ]);
  return Object.fromEntries(files) as unknown as Undici;
}
