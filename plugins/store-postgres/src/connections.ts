/** The connections of the store: three pools, so that a report never delays an authentication. */

import { errorMessage, type Log } from "@sluice/contract";
import { Pool, type PoolConfig, types } from "pg";

/** How the pools connect. */
export interface ConnectionOptions {
  readonly url: string;
  /** A replica for reports. Absent: `url`. */
  readonly readUrl?: string | undefined;
  /** `transaction`: a pooler lends a connection for one transaction. */
  readonly pooler: "none" | "transaction";
  /** Connections of this process for look-ups and changes together. */
  readonly connections: number;
  readonly log: Log;
}

/** The pools. Each query has a deadline: that of its pool. */
export interface Connections {
  /** Look-ups of keys and their tenants: `LOOKUP_MS`. */
  readonly lookups: Pool;
  /** Changes and rows: 5 s. */
  readonly writes: Pool;
  /** Lists and reports: `REPORT_MS`, two connections. */
  readonly reports: Pool;
  /** Changes of the schema: each statement has a deadline of its own. One connection. */
  readonly migrations: Pool;
  end(): Promise<void>;
}

/** The deadline of a look-up. */
export const LOOKUP_MS = 1_000;
/** The deadline of a list and of a report. */
export const REPORT_MS = 10_000;
const CONNECT_MS = 5_000;
const IDLE_MS = 60_000;
/** The client gives up this much later than the server: the server's word says more. */
const CLIENT_SLACK_MS = 500;
const REPORT_CONNECTIONS = 2;

const INT8 = 20;
/** Counts and nano-dollars are below 2^53; sums that may exceed it are read as text. */
const TYPES: NonNullable<PoolConfig["types"]> = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === INT8
      ? (text: string) => Number(text)
      : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
};

/** Makes the pools. Nothing connects before the first query. */
export function connect(options: ConnectionOptions): Connections {
  const lookups = poolOf(options, { max: Math.ceil(options.connections / 2), limitMs: LOOKUP_MS });
  const writes = poolOf(options, { max: Math.floor(options.connections / 2), limitMs: 5_000 });
  const reports = poolOf(
    { ...options, url: options.readUrl ?? options.url },
    { max: REPORT_CONNECTIONS, limitMs: REPORT_MS },
  );
  const migrations = poolOf(options, { max: 1, limitMs: 0 });
  const pools = [lookups, writes, reports, migrations];
  return {
    lookups,
    writes,
    reports,
    migrations,
    end: async () => void (await Promise.all(pools.map(async (pool) => pool.end()))),
  };
}

function poolOf(
  { url, pooler, log }: ConnectionOptions,
  { max, limitMs }: { readonly max: number; readonly limitMs: number },
): Pool {
  const pool = new Pool({
    connectionString: url,
    max,
    application_name: "sluice",
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    ...(limitMs > 0 && { query_timeout: limitMs + CLIENT_SLACK_MS }),
    // A pooler refuses parameters of the start that it does not know.
    ...(pooler === "none" && limitMs > 0 && { statement_timeout: limitMs }),
    types: TYPES,
  });
  const note = (error: Error): void =>
    log.debug("a connection to PostgreSQL ended", { error: errorMessage(error) });
  // An idle connection that ends is replaced by the next query.
  pool.on("error", note);
  // The pool does not listen to a connection that is lent to a transaction. Its query rejects, and
  // without a listener the error would end the process too.
  pool.on("connect", (client) => void client.on("error", note));
  return pool;
}
