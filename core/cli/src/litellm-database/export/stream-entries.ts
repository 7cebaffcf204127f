/** The entries of an export, table by table, in the order of their references. */

import { basename } from "node:path";
import { budgetEntry, groupEntry } from "../entries/budget.ts";
import type { Reading } from "../entries/block.ts";
import { customerEntries } from "../entries/customer.ts";
import type { Entry, LeftOut, TableName } from "../entries/entry.ts";
import { keyEntry } from "../entries/key.ts";
import { memberEntry } from "../entries/member.ts";
import { organizationEntry } from "../entries/organization.ts";
import { teamEntry } from "../entries/team.ts";
import { userEntry } from "../entries/user.ts";
import { readRows } from "../read-rows.ts";
import type { Row } from "../values.ts";
import { type Export, versionOf } from "./read-export.ts";

/** An entry, and where it stands: the file and the line at which it ends. */
export interface Placed {
  readonly at: string;
  readonly entry: Entry | LeftOut;
}

type ReadEntries = (row: Row, reading: Reading) => readonly (Entry | LeftOut)[];

/** What the entries of an export are made with. */
export interface StreamOptions {
  readonly reading: Reading;
  /** Organizations that customers belong to; `""`: none. */
  readonly customerPlaces: readonly string[];
  /** Whether members are taken without LiteLLM_TeamMembership, which has their limits. */
  readonly acceptsMembers: boolean;
}

/** The entries of a table. Throws an `Error` for a file that has changed since it was read. */
export async function* entriesOf(
  table: TableName,
  from: Export,
  options: StreamOptions,
): AsyncGenerator<Placed> {
  if (table === "members") return yield* membersOf(from, options);
  const read = readersOf(options)[table];
  for (const { path, version } of from.sources.get(table) ?? []) {
    if ((await versionOf(path)) !== version)
      throw new Error(`${basename(path)}: it has changed during the import; run the import again`);
    for await (const { row, line } of readRows(path))
      for (const entry of read(row, options.reading))
        yield { at: `${basename(path)}:${line}`, entry };
  }
}

function readersOf({
  customerPlaces,
}: StreamOptions): Readonly<Record<Exclude<TableName, "members">, ReadEntries>> {
  return {
    budgets: (row) => [budgetEntry(row)],
    organizations: (row, reading) => [organizationEntry(row, reading)],
    access_groups: (row) => [groupEntry(row)],
    users: (row, reading) => [userEntry(row, reading)],
    teams: (row, reading) => [teamEntry(row, reading)],
    keys: (row, reading) => [keyEntry(row, reading)],
    customers: (row, reading) => customerEntries(row, customerPlaces, reading),
  };
}

function* membersOf(
  { index }: Export,
  { reading, acceptsMembers }: StreamOptions,
): Generator<Placed> {
  const isKnown = acceptsMembers || index.tables.has("team_memberships");
  for (const [teamId, members] of index.members)
    for (const [userId, member] of members) {
      const entry = memberEntry(teamId, userId, member, reading);
      const leftOut = "the limits of members are in LiteLLM_TeamMembership; add it to the export";
      yield { at: member.at, entry: isKnown ? entry : { id: entry.id, name: entry.name, leftOut } };
    }
}
