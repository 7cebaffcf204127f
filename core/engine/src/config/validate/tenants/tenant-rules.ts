/** Rules of organizations, teams, users, customers, budgets and access groups among each other. */

import { foldedTenantId } from "@sluice/contract";
import { formatPath, valueAtPath } from "../../files/path.ts";
import { duplicates, listOf, textOf } from "../entries.ts";
import type { Fault } from "../explain.ts";
import { amountFaults } from "./limit-rules.ts";

type Path = readonly (string | number)[];

/** Lists of records, and the keys of their ids. */
const LISTS = {
  organizations: "organization_id",
  teams: "team_id",
  users: "user_id",
  budgets: "budget_id",
  access_groups: "access_group",
} as const;

/** A record at a place of the file. */
export interface Entry {
  readonly entry: unknown;
  readonly at: Path;
}

/** Every entry with a block of limits: keys, tenants, members of teams and customers. */
export function blockEntries(gateway: unknown): readonly Entry[] {
  const lists = ["keys", "organizations", "teams", "users"];
  return [
    ...lists.flatMap((list) => entriesOf(gateway, [list])),
    ...entriesOf(gateway, ["teams"]).flatMap(({ entry, at }) => entriesOf(entry, ["members"], at)),
    ...entriesOf(gateway, ["customers", "records"]),
  ];
}

/** The faults of declared tenants. */
export function tenantFaults(gateway: unknown): Fault[] {
  const members = entriesOf(gateway, ["teams"]);
  return [
    ...Object.entries(LISTS).flatMap(([list, key]) => [
      ...duplicates(gateway, list, key),
      ...similar(gateway, list, key),
    ]),
    ...duplicates(gateway, "organizations", "organization_alias"),
    ...repeated(entriesOf(gateway, ["customers", "records"]), ["organization_id", "customer_id"]),
    ...repeated(
      entriesOf(gateway, ["teams"]).filter(
        ({ entry }) => textOf(entry, "team_alias") !== undefined,
      ),
      ["organization_id", "team_alias"],
    ),
    ...members.flatMap(({ entry, at }) => [
      ...repeated(entriesOf(entry, ["members"], at), ["user_id"]),
      ...amountFaults(valueAtPath(entry, ["member_defaults"]), [...at, "member_defaults"]),
    ]),
    ...amountFaults(valueAtPath(gateway, ["customers", "defaults"]), ["customers", "defaults"]),
    ...entriesOf(gateway, ["budgets"]).flatMap(({ entry, at }) => amountFaults(entry, at)),
    ...roleFaults(gateway),
    ...misspelt(gateway),
    ...acrossBorders(gateway),
  ];
}

function entriesOf(value: unknown, path: Path, at: Path = []): readonly Entry[] {
  const list = valueAtPath(value, path);
  if (!Array.isArray(list)) return [];
  return list.map((entry: unknown, index) => ({ entry, at: [...at, ...path, index] }));
}

/** Two ids that a reader cannot tell apart: they differ in case, width or outer blanks alone. */
function similar(gateway: unknown, list: string, key: string): Fault[] {
  const first = new Map<string, { readonly id: string; readonly index: number }>();
  return listOf(gateway, list).flatMap((entry, index): Fault[] => {
    const id = textOf(entry, key);
    if (id === undefined) return [];
    const folded = foldedTenantId(id);
    const earlier = first.get(folded);
    if (earlier === undefined) first.set(folded, { id, index });
    if (earlier === undefined || earlier.id === id) return [];
    const path = [list, index, key];
    const message = `\`${formatPath(path)}\` is "${id}", which differs from \`${formatPath([list, earlier.index])}\` in case, width or blanks alone`;
    return [{ path, on: "value", message, fix: "rename one of the two" }];
  });
}

/** Entries whose keys all have the values of an earlier one. */
function repeated(entries: readonly Entry[], keys: readonly string[]): Fault[] {
  const first = new Map<string, Path>();
  return entries.flatMap(({ entry, at }): Fault[] => {
    const name = JSON.stringify(keys.map((key) => textOf(entry, key) ?? null));
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, at);
    if (earlier === undefined) return [];
    const path = [...at, keys.at(-1) ?? ""];
    const message = `\`${formatPath(path)}\` is what \`${formatPath(earlier)}\` is already`;
    return [{ path, on: "value", message, fix: "rename or remove one of the two" }];
  });
}

function roleFaults(gateway: unknown): Fault[] {
  return entriesOf(gateway, ["users"]).flatMap(({ entry, at }) =>
    entriesOf(entry, ["roles"], at).flatMap(({ entry: role, at: place }): Fault[] => {
      const kind = textOf(role, "at");
      return ["organization", "team"].flatMap((one): Fault[] => {
        const key = `${one}_id`;
        const isThere = textOf(role, key) !== undefined;
        if (isThere === (kind === one)) return [];
        if (!isThere)
          return [
            {
              path: [...place, "at"],
              on: "value",
              message: `\`${formatPath(place)}\` is at an ${one} that it does not name`.replace(
                "an team",
                "a team",
              ),
              fix: `add \`${key}\``,
            },
          ];
        const path = [...place, key];
        const message = `\`${formatPath(path)}\` has no effect with \`at: ${kind ?? ""}\``;
        return [{ path, on: "key", message, fix: `remove it, or write \`at: ${one}\`` }];
      });
    }),
  );
}

/** References to records, by the list that declares them. */
function referencesOf(
  gateway: unknown,
): readonly (Entry & { readonly list: keyof typeof LISTS })[] {
  const named = (
    entries: readonly Entry[],
    key: string,
    list: keyof typeof LISTS,
  ): (Entry & { readonly list: keyof typeof LISTS })[] =>
    entries.flatMap(({ entry, at }) => {
      const id = textOf(entry, key);
      return id === undefined ? [] : [{ entry: id, at: [...at, key], list }];
    });
  const users = entriesOf(gateway, ["users"]);
  const roles = users.flatMap(({ entry, at }) => entriesOf(entry, ["roles"], at));
  const members = entriesOf(gateway, ["teams"]).flatMap(({ entry, at }) =>
    entriesOf(entry, ["members"], at),
  );
  const owned = ["keys", "teams", "budgets", "access_groups"].flatMap((list) =>
    entriesOf(gateway, [list]),
  );
  const customers = entriesOf(gateway, ["customers", "records"]);
  return [
    ...named([...owned, ...customers, ...roles], "organization_id", "organizations"),
    ...users.flatMap(({ entry, at }) =>
      entriesOf(entry, ["organizations"], at).map((one) => ({
        ...one,
        list: "organizations" as const,
      })),
    ),
    ...named([...entriesOf(gateway, ["keys"]), ...roles], "team_id", "teams"),
    ...named([...entriesOf(gateway, ["keys"]), ...members], "user_id", "users"),
    ...named(blockEntries(gateway), "budget_id", "budgets"),
    ...named(
      [{ entry: valueAtPath(gateway, ["customers"]), at: ["customers"] }],
      "default_budget",
      "budgets",
    ),
  ];
}

/** A reference that differs from a declared id like that alone would refer to nothing. */
function misspelt(gateway: unknown): Fault[] {
  const known = Object.fromEntries(
    Object.entries(LISTS).map(([list, key]) => [
      list,
      listOf(gateway, list).flatMap((entry) => textOf(entry, key) ?? []),
    ]),
  );
  return referencesOf(gateway).flatMap(({ entry, at, list }): Fault[] => {
    const ids = known[list] ?? [];
    if (typeof entry !== "string" || ids.includes(entry)) return [];
    const folded = foldedTenantId(entry);
    const meant = ids.find((id) => foldedTenantId(id) === folded);
    if (meant === undefined) return [];
    const noun = list.slice(0, -1).replace("_", " ");
    const message = `\`${formatPath(at)}\` is "${entry}", which differs from the ${noun} "${meant}" in case, width or blanks alone`;
    return [{ path: at, on: "value", message, fix: `write "${meant}"` }];
  });
}

/** References to a declared budget of another organization. */
function acrossBorders(gateway: unknown): Fault[] {
  const owners = new Map(
    listOf(gateway, "budgets").map((budget) => [
      textOf(budget, "budget_id"),
      textOf(budget, "organization_id"),
    ]),
  );
  const ofTeam = new Map(
    listOf(gateway, "teams").map((team) => [
      textOf(team, "team_id"),
      textOf(team, "organization_id"),
    ]),
  );
  return blockEntries(gateway).flatMap(({ entry, at }): Fault[] => {
    const owner = owners.get(textOf(entry, "budget_id"));
    if (owner === undefined) return [];
    const [list, index] = at;
    const team =
      list === "teams" && at.length > 2 ? valueAtPath(gateway, ["teams", index ?? 0]) : entry;
    const own = [
      textOf(team, "organization_id"),
      ofTeam.get(textOf(entry, "team_id")),
      ...listOf(entry, "organizations"),
    ];
    const isStored =
      list === "keys" &&
      textOf(entry, "team_id") !== undefined &&
      !ofTeam.has(textOf(entry, "team_id"));
    if (isStored || own.includes(owner)) return [];
    const path = [...at, "budget_id"];
    const message = `\`${formatPath(path)}\` names a budget of the organization "${owner}", to which this does not belong`;
    return [{ path, on: "value", message, fix: "name another budget, or the organization" }];
  });
}
