/** @sluice/store-postgres: keys, teams and the ledger in PostgreSQL, for several gateways. */

import type { ConfigFault, StoreDefinition, StoreHost } from "@sluice/contract";
import type { PostgresConfig } from "./config.ts";
import { createPostgresStore } from "./store.ts";

export type { PostgresConfig } from "./config.ts";

/** The `postgres` store: any number of gateways on one database. */
const definition: StoreDefinition<PostgresConfig> = Object.freeze({
  kind: "store",
  name: "postgres",
  apiVersion: 1,
  stability: "experimental",
  summary: "Keys, teams and the ledger in PostgreSQL, for several gateways.",
  config: {
    type: "object",
    additionalProperties: false,
    required: ["url"],
    properties: {
      url: {
        type: "string",
        minLength: 1,
        "x-secret": true,
        description:
          "Where PostgreSQL 15 or newer is: `postgresql://user:password@host:5432/database`. Written as a reference.",
        examples: ["${env:DATABASE_URL}"],
      },
      read_url: {
        type: "string",
        minLength: 1,
        "x-secret": true,
        description: "A replica for lists and reports. Absent: `url`.",
        examples: ["${env:DATABASE_READ_URL}"],
      },
      pooler: {
        type: "string",
        enum: ["none", "transaction"],
        default: "none",
        description:
          "`transaction`: a pooler such as PgBouncer lends connections for single transactions. Statements are unnamed then, and deadlines are kept by the gateway alone.",
      },
      connections: {
        type: "integer",
        minimum: 2,
        maximum: 100,
        default: 4,
        description:
          "Connections of each worker for look-ups and changes. Reports take two more, changes of the schema one.",
      },
      migrate: {
        type: "string",
        enum: ["auto", "wait", "off"],
        default: "auto",
        description:
          "A schema that is older than the gateway: `auto` migrates it at the start, `wait` waits until another process has, `off` refuses to start.",
      },
    },
  },
  check({ url }: PostgresConfig): readonly ConfigFault[] {
    const text = url.reveal();
    if (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text)) return [];
    return [
      {
        path: ["url"],
        message: "`store.url` is not the address of a PostgreSQL",
        fix: "write `postgresql://user:password@host:5432/database` into the variable",
      },
    ];
  },
  create: (config: PostgresConfig, host: StoreHost) => createPostgresStore(config, host),
});

export default definition;
