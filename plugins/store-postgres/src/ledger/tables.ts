/** The tables of the ledger and of its sums. */

import { LEDGER_COLUMNS } from "./columns.ts";
import { AMOUNTS } from "./sums/amounts.ts";

const TEXT = 'text collate "C"';

const columns = LEDGER_COLUMNS.map(({ name, type }) => {
  const written = type === "text" ? TEXT : type;
  return `${name} ${written}${name === "request_id" || name === "attempt" ? " not null" : ""}`;
}).join(", ");

/** Scopes of a row, its model and its provider. An id that it does not have is an empty text. */
const CELL = [
  "organization_id",
  "team_id",
  "user_id",
  "key_id",
  "model",
  "model_group",
  "provider",
];

const amounts = AMOUNTS.map(({ column }) => `${column} bigint not null`).join(", ");

function sums(table: string, keys: string, names: string): string {
  return `create table ${table} (${keys}, writer smallint not null, ${amounts},
    primary key (${names}, writer)) with (fillfactor = 70)`;
}

/** The statements that make the tables. Partitions are made as days come. */
export const LEDGER_TABLES: readonly string[] = [
  `create table ledger (${columns}, primary key (request_id, attempt)) partition by range (request_id)`,
  ...["key_id", "user_id", "team_id", "organization_id", "end_user"].map(
    (column) =>
      `create index ledger_by_${column} on ledger (${column}, request_id desc, attempt desc) where ${column} is not null`,
  ),
  "create index ledger_by_completion on ledger (completion_id) where completion_id is not null",
  `create table ledger_aside (request_id ${TEXT}, attempt smallint, row jsonb not null, primary key (request_id, attempt))`,
  `create table spend_cell (id bigint generated always as identity primary key,
    ${CELL.map((name) => `${name} ${TEXT} not null`).join(", ")},
    unique (key_id, model, model_group, provider, team_id, user_id, organization_id))`,
  ...["organization_id", "team_id", "user_id"].map(
    (column) => `create index spend_cell_by_${column} on spend_cell (${column})`,
  ),
  sums("spend_hour", "hour integer not null, cell bigint not null", "hour, cell"),
  "create index spend_hour_by_cell on spend_hour (cell, hour)",
  sums("spend_day", "day integer not null, cell bigint not null", "day, cell"),
  "create index spend_day_by_cell on spend_day (cell, day)",
  sums(
    "spend_tag_hour",
    `hour integer not null, tag ${TEXT} not null, cell bigint not null`,
    "hour, tag, cell",
  ),
  "create index spend_tag_hour_by_tag on spend_tag_hour (tag, hour)",
  sums(
    "spend_customer_day",
    `day integer not null, customer ${TEXT} not null, cell bigint not null`,
    "day, customer, cell",
  ),
  "create index spend_customer_day_by_customer on spend_customer_day (customer, day)",
  `create table spend_total (subject ${TEXT} not null, span integer not null, model ${TEXT} not null, model_group ${TEXT} not null,
    writer smallint not null, nano_usd bigint not null, primary key (subject, span, model, model_group, writer)) with (fillfactor = 70)`,
];
