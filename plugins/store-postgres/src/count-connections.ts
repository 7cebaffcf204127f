/** How many connections PostgreSQL has, and how many it allows. */

import type { Log, StoreConnections } from "@sluice/contract";
import type { PostgresConfig } from "./config.ts";
import { APPLICATION, connect, perProcess } from "./connections.ts";

/**
 * The limits of the server, of the database and of the role: the lowest counts, with the
 * connections that count against it. `-1` is none. Places for superusers are not the gateway's.
 */
const COUNTS = `
  with clients as (
    select datname, usename, application_name from pg_stat_activity
    where datid is not null and coalesce(backend_type, 'client backend') = 'client backend'
  ), limits as (
    select current_setting('max_connections')::integer
        - current_setting('superuser_reserved_connections')::integer
        - coalesce(current_setting('reserved_connections', true), '0')::integer as max,
      (select count(*) from clients) as used
    union all
    select datconnlimit, (select count(*) from clients where datname = current_database())
      from pg_database where datname = current_database() and datconnlimit >= 0
    union all
    select rolconnlimit, (select count(*) from clients where usename = current_user)
      from pg_roles where rolname = current_user and rolconnlimit >= 0
  )
  select max::integer as max, used::integer as used,
    (select count(*)::integer from clients
      where datname = current_database() and application_name = $1) as gateways
  from limits order by max - used limit 1`;

/** Counts them over a connection of its own. Throws `Error` when the server does not answer. */
export async function countConnections(
  config: PostgresConfig,
  log: Log,
): Promise<StoreConnections> {
  const { url, pooler, connections } = config;
  const opened = connect({ url: url.reveal(), pooler, connections, log });
  try {
    const { rows } = await opened.lookups.query<{
      readonly max: number;
      readonly used: number;
      readonly gateways: number;
    }>(COUNTS, [APPLICATION]);
    const { max = 0, used = 0, gateways = 0 } = rows[0] ?? {};
    // Its own connection is of no gateway.
    return {
      max,
      used: Math.max(0, used - 1),
      ofGateways: Math.max(0, gateways - 1),
      perProcess: perProcess(config),
    };
  } finally {
    await opened.end();
  }
}
