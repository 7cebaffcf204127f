/** The table of the audit. */

import { type Kysely, sql } from "kysely";

/** Makes the table. Its lines cannot be changed by a statement of the gateway. */
export async function createAuditTable(database: Kysely<unknown>): Promise<void> {
  await sql`create table audit (seq integer primary key, at_ms integer not null, actor text not null,
    user_id text, session text, address text, action text not null, object text, organization_id text,
    team_id text, outcome text not null, before text, after text, request_id text,
    prev_hash text not null, hash text not null) strict`.execute(database);
  await sql`create index audit_object on audit (object, seq)`.execute(database);
  await sql`create index audit_actor on audit (actor, seq)`.execute(database);
  await sql`create trigger audit_update before update on audit
    begin select raise(abort, 'a line of the audit is never changed'); end`.execute(database);
}
