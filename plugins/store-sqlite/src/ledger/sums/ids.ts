/** Ids of cells and tags: sums name them by numbers, which are a tenth of their texts. */

import type { DatabaseSync } from "node:sqlite";
import { parseJson } from "@sluice/kit";
import { AT, type LedgerValues } from "./amounts.ts";

/** A combination of scopes, model and provider. */
export interface Cell {
  readonly id: number;
  readonly modelId: number;
}

/** Finds the ids of cells and tags, or makes them. */
export interface SumIds {
  cellOf(row: LedgerValues): Cell;
  tagOf(tag: string): number;
  /** Forgets what is in memory: after a rollback, ids may be others'. */
  forget(): void;
}

/** Ids in memory of each kind. They are dropped together when there are more. */
const MAX_IDS = 50_000;

/** Prepares the statements of an open database. Ids are made in the caller's transaction. */
export function createSumIds(database: DatabaseSync): SumIds {
  const model = database.prepare(
    "insert into spend_model (model, model_group) values (?, ?) returning id",
  );
  const cell = database.prepare(
    `insert into spend_cell (organization_id, team_id, user_id, key_id, model_id, provider)
     values (?, ?, ?, ?, ?, ?) returning id`,
  );
  const tag = database.prepare("insert into spend_tag (tag) values (?) returning id");
  return remembered(database, {
    model: (name, group) => idOf(model.get(name, group)),
    cell: ([organization, team, user, key, , , provider], modelId) =>
      idOf(cell.get(organization, team, user, key, modelId, provider)),
    tag: (name) => idOf(tag.get(name)),
  });
}

/**
 * Finds ids and makes none: what is missing gets a number below zero, which no stored sum has. For
 * one check.
 */
export function createKnownIds(database: DatabaseSync): SumIds {
  let missing = 0;
  const none = (): number => --missing;
  return remembered(database, { model: none, cell: none, tag: none });
}

/** Gives ids to what has none. */
interface MakeIds {
  readonly model: (name: string, group: string) => number;
  readonly cell: (names: CellNames, modelId: number) => number;
  readonly tag: (name: string) => number;
}

function remembered(database: DatabaseSync, make: MakeIds): SumIds {
  const find = createFinder(database);
  const cells = new Map<string, Cell>();
  const tags = new Map<string, number>();
  return {
    cellOf(row) {
      const names = namesOf(row);
      const text = names.join("\0");
      let cell = cells.get(text);
      if (cell !== undefined) return cell;
      const [, , , , model, group] = names;
      const modelId = find.model(model, group) ?? make.model(model, group);
      const id = find.cell(names, modelId) ?? make.cell(names, modelId);
      if (cells.size >= MAX_IDS) cells.clear();
      cells.set(text, (cell = { id, modelId }));
      return cell;
    },
    tagOf(tag) {
      let id = tags.get(tag);
      if (id !== undefined) return id;
      id = find.tag(tag) ?? make.tag(tag);
      if (tags.size >= MAX_IDS) tags.clear();
      tags.set(tag, id);
      return id;
    },
    forget() {
      cells.clear();
      tags.clear();
    },
  };
}

function createFinder(database: DatabaseSync) {
  const model = database.prepare("select id from spend_model where model = ? and model_group = ?");
  const cell = database.prepare(
    `select id from spend_cell where organization_id = ? and team_id = ? and user_id = ?
       and key_id = ? and model_id = ? and provider = ?`,
  );
  const tag = database.prepare("select id from spend_tag where tag = ?");
  return {
    model: (name: string, group: string) => foundId(model.get(name, group)),
    cell: ([organization, team, user, key, , , provider]: CellNames, modelId: number) =>
      foundId(cell.get(organization, team, user, key, modelId, provider)),
    tag: (name: string) => foundId(tag.get(name)),
  };
}

type CellNames = [
  organization: string,
  team: string,
  user: string,
  key: string,
  model: string,
  group: string,
  provider: string,
];

/** What a row is summed up by. Texts of rows have no NUL characters. */
function namesOf(row: LedgerValues): CellNames {
  return [
    textOf(row, AT.organization_id),
    textOf(row, AT.team_id),
    textOf(row, AT.user_id),
    textOf(row, AT.key_id),
    textOf(row, AT.model),
    textOf(row, AT.model_group),
    providerOf(row),
  ];
}

/** A text column; empty where the row has none. */
export function textOf(row: LedgerValues, at: number): string {
  const value = row[at];
  return typeof value === "string" ? value : "";
}

/** The provider instance of a row: its target is `provider/model`. Empty without a target. */
export function providerOf(row: LedgerValues): string {
  const target = textOf(row, AT.target_id);
  const slash = target.indexOf("/");
  return slash < 0 ? target : target.slice(0, slash);
}

/** The tags of a row, each once. */
export function tagsOf(row: LedgerValues): Iterable<string> {
  const text = row[AT.tags];
  return typeof text === "string" ? new Set(parseJson(text) as string[]) : [];
}

function foundId(row: Record<string, unknown> | undefined): number | undefined {
  return row === undefined ? undefined : Number(row["id"]);
}

function idOf(row: Record<string, unknown> | undefined): number {
  const id = foundId(row);
  if (id === undefined) throw new Error("an id of the spend sums was not made");
  return id;
}
