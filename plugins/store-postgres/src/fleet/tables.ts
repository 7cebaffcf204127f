/** The tables of the fleet. */

/** Reports change every few seconds: their pages have room for the new versions of a row. */
export const INSTANCE_TABLES: readonly string[] = [
  `create table instance (
    id text not null, worker integer not null, seen_at_ms bigint not null,
    report text not null, primary key (id, worker)) with (fillfactor = 50)`,
];

export const ROLLOUT_TABLES: readonly string[] = [
  `create table rollout (
    source text not null, id integer not null, contents text not null, base integer,
    stage text not null, reason text, at_ms bigint not null, ends_at_ms bigint not null,
    detail text not null, files text, primary key (source, id))`,
  `create table rollout_report (
    source text not null, id integer not null, instance text not null, process text not null,
    at_ms bigint not null, report text not null,
    primary key (source, id, instance, process)) with (fillfactor = 50)`,
];
