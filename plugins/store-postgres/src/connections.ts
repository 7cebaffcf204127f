/** The connections of the store: pools, so that a report never delays an authentication. */

import { Socket } from "node:net";
import { errorMessage, type Log } from "@sluice/contract";
import { parseJson, within } from "@sluice/kit";
import { type ClientBase, Pool, type PoolConfig, types } from "pg";
import { CHANNEL } from "./changes/tables.ts";

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
  /** Changes of the schema, without a deadline, and what belongs to them: 10 s. One connection. */
  readonly migrations: Pool;
  /** Jobs of the leader: `JOB_MS`. Takes the connection of `migrations`, which ends before. */
  readonly jobs: Pool;
  /** Reads of the log of changes: `CHANGES_MS`. One connection, which listens where it can. */
  readonly changes: Pool;
  /** Called when another process notifies of a change. Never with a pooler. */
  onNotice: () => void;
  end(): Promise<void>;
}

/** The deadline of a look-up. */
export const LOOKUP_MS = 1_000;
/** The deadline of a list and of a report. */
export const REPORT_MS = 10_000;
/** The deadline of a read of the log of changes, and of the connection that it makes. */
const CHANGES_MS = 800;
const CONNECT_MS = 5_000;
const IDLE_MS = 60_000;
/** What belongs to a change of the schema answers at once, or is refused. */
const SCHEMA_MS = 10_000;
const SCHEMA_IDLE_MS = 1_000;
/** A statement of a job may walk a day of rows. Without an answer for so long its peer is gone. */
const JOB_MS = 900_000;
/** A peer that is gone without a word is asked after this time. */
const KEEP_ALIVE_MS = 10_000;
/** How long the end waits for statements under way. Their connections are closed then. */
const END_MS = 2_000;
/** The client gives up this much later than the server: the server's word says more. */
const CLIENT_SLACK_MS = 500;
const REPORT_CONNECTIONS = 2;
const MIGRATION_CONNECTIONS = 1;
const CHANGE_CONNECTIONS = 1;

/** Triggers read what others have committed, whatever the default of the database is. */
const ISOLATION = String.raw`-c default_transaction_isolation=read\ committed`;

/** The name that the server shows for each connection of a gateway. */
export const APPLICATION = "sluice";

/** What a process takes at most. */
export function perProcess({ connections }: Pick<ConnectionOptions, "connections">): number {
  return connections + REPORT_CONNECTIONS + MIGRATION_CONNECTIONS + CHANGE_CONNECTIONS;
}

/**
 * By ids of types (pg_type.dat). Counts and nano-dollars are below 2^53; sums that may exceed it
 * are read as text. `pg` parses JSON by `JSON.parse`, which misreads names with escapes.
 */
const PARSERS = new Map<number, (text: string) => unknown>([
  [20, Number],
  [114, (text) => parseJson(text)],
  [3802, (text) => parseJson(text)],
]);
const TYPES: NonNullable<PoolConfig["types"]> = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    PARSERS.get(oid) ?? types.getTypeParser(oid, format)) as typeof types.getTypeParser,
};

/** Makes the pools. Nothing connects before the first query. */
export function connect(options: ConnectionOptions): Connections {
  const sockets = new Set<Socket>();
  const lookups = poolOf(
    { ...options, sockets },
    { max: Math.ceil(options.connections / 2), limitMs: LOOKUP_MS },
  );
  const writes = poolOf(
    { ...options, sockets },
    { max: Math.floor(options.connections / 2), limitMs: 5_000 },
  );
  const reports = poolOf(
    { ...options, sockets, url: options.readUrl ?? options.url },
    { max: REPORT_CONNECTIONS, limitMs: REPORT_MS },
  );
  const migrations = poolOf(
    { ...options, sockets },
    {
      max: MIGRATION_CONNECTIONS,
      answerMs: SCHEMA_MS,
      idleMs: SCHEMA_IDLE_MS,
    },
  );
  const jobs = poolOf({ ...options, sockets }, { max: MIGRATION_CONNECTIONS, answerMs: JOB_MS });
  const changes = poolOf(
    { ...options, sockets },
    {
      max: CHANGE_CONNECTIONS,
      limitMs: CHANGES_MS,
      connectMs: CHANGES_MS,
      // A connection of a transaction pooler is another one in the next moment.
      ...(options.pooler === "none" && {
        onConnect: async (client) => listen(client, connections),
      }),
    },
  );
  const pools = [lookups, writes, reports, migrations, jobs, changes];
  const connections: Connections = {
    lookups,
    writes,
    reports,
    migrations,
    jobs,
    changes,
    onNotice: () => undefined,
    end: () => endPools(pools, sockets),
  };
  return connections;
}

async function listen(client: ClientBase, connections: Connections): Promise<void> {
  client.on("notification", () => connections.onNotice());
  await client.query(`listen ${CHANNEL}`);
}

/** What distinguishes a pool. */
interface PoolPlan {
  readonly max: number;
  /** The deadline of a query at the server. Absent: it has none. */
  readonly limitMs?: number;
  /** The deadline of its answer. Absent: a little after `limitMs`. */
  readonly answerMs?: number;
  readonly connectMs?: number;
  readonly idleMs?: number;
  readonly onConnect?: (client: ClientBase) => Promise<void>;
}

function poolOf(
  { url, pooler, log, sockets }: ConnectionOptions & { readonly sockets: Set<Socket> },
  { max, limitMs = 0, connectMs = CONNECT_MS, idleMs = IDLE_MS, onConnect, ...plan }: PoolPlan,
): Pool {
  const pool = new Pool({
    connectionString: url,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
    max,
    application_name: APPLICATION,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: idleMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    query_timeout: plan.answerMs ?? limitMs + CLIENT_SLACK_MS,
    // A pooler refuses parameters of the start that it does not know.
    ...(pooler === "none" && { options: ISOLATION }),
    ...(pooler === "none" && limitMs > 0 && { statement_timeout: limitMs }),
    types: TYPES,
    ...(onConnect !== undefined && { onConnect }),
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

/**
 * Ends pools after their statements under way. A pool waits for a connection that is lent, however
 * long its server is silent: those that are left are closed.
 */
async function endPools(pools: readonly Pool[], sockets: Iterable<Socket>): Promise<void> {
  const ended = Promise.all(pools.map(async (pool) => pool.end()));
  await within(END_MS, ended, () => {
    for (const socket of sockets) socket.destroy();
  });
}
