/** @sluice/store-sqlite: keys, teams and the ledger in one SQLite file, by `node:sqlite`. */

import type { StoreDefinition, StoreHost } from "@sluice/contract";
import { createSqliteStore } from "./store.ts";
import type { SqliteConfig } from "./store.ts";

export type { SqliteConfig } from "./store.ts";

/** The `sqlite` store: one file, one process, nothing to install. */
const definition: StoreDefinition<SqliteConfig> = Object.freeze({
  kind: "store",
  name: "sqlite",
  apiVersion: 1,
  stability: "beta",
  summary: "Keys, teams and the ledger in one SQLite file. Nothing to install.",
  config: {
    type: "object",
    additionalProperties: false,
    properties: {
      path: {
        type: "string",
        minLength: 1,
        description:
          "The database file, relative to the process's working directory. Absent: `sluice.db` in `server.data_directory`. Missing folders are made. `:memory:` keeps nothing after the end.",
        examples: ["/var/lib/sluice/sluice.db"],
      },
      synchronous: {
        type: "string",
        enum: ["normal", "full"],
        default: "normal",
        description:
          "When SQLite waits for the disk. `normal` loses nothing when the process dies, and may lose the last moments when the machine loses power. `full` waits at every commit.",
      },
    },
  },
  create: (config: SqliteConfig, host: StoreHost) => createSqliteStore(config, host),
});

export default definition;
