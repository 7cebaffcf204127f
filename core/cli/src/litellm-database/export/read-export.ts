/** Reads all files of an export once: what is wrong with one is found before anything is sent. */

import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { errorMessage } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";
import { NO_MODEL } from "../entries/entry.ts";
import { readRows } from "../read-rows.ts";
import { hasContent, idAt, jsonAt, listAt, numberAt, type Row, textAt } from "../values.ts";
import { emptyIndex, type ExportIndex, type Member, valueOf } from "./export-index.ts";
import { checkColumns, type FoundTable, type ReadTable, tableNamed, tableOf } from "./tables.ts";

/** Rows of one table but that of customers, which is not held. */
const MAX_ROWS = 500_000;
/** Columns of budgets that rows which refer to them are read with. */
const BUDGET_COLUMNS = [
  "budget_id",
  "max_budget",
  "soft_budget",
  "budget_duration",
  "budget_reset_at",
  "rpm_limit",
  "tpm_limit",
  "max_parallel_requests",
  "model_max_budget",
  "allowed_models",
];

/** A file of an export. */
export interface Source {
  readonly path: string;
  /** Its size and time of change: it is read twice. */
  readonly version: string;
}

/** An export. */
export interface Export {
  readonly index: ExportIndex;
  readonly sources: ReadonlyMap<ReadTable, readonly Source[]>;
  /** Tables that are not taken over: the file, LiteLLM's name and why. */
  readonly others: readonly { readonly at: string; readonly name: string; readonly why: string }[];
  /** Members that teams name without the id of a user. */
  readonly namelessMembers: readonly string[];
}

/** Throws an `Error` that names the file and the line. */
export async function readExport(files: readonly string[]): Promise<Export> {
  const found = {
    index: emptyIndex(),
    sources: new Map<ReadTable, Source[]>(),
    others: [] as { at: string; name: string; why: string }[],
    namelessMembers: [] as string[],
  };
  for (const path of files)
    await readFile(path, found).catch((cause: unknown) => {
      throw new Error(`${basename(path)}: ${errorMessage(cause)}`, { cause });
    });
  completeMembers(found.index);
  return found;
}

/** The version of a file. */
export async function versionOf(path: string): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  return `${size} ${mtimeMs}`;
}

async function readFile(
  path: string,
  {
    index,
    sources,
    others,
    namelessMembers,
  }: Export & {
    readonly sources: Map<ReadTable, Source[]>;
    readonly others: { at: string; name: string; why: string }[];
    readonly namelessMembers: string[];
  },
): Promise<void> {
  const version = await versionOf(path);
  let found: FoundTable | undefined;
  let rows = 0;
  const note = (one: FoundTable): FoundTable => {
    if ("why" in one) others.push({ at: basename(path), ...one });
    else {
      index.tables.add(one.table);
      valueOf(sources, one.table, () => []).push({ path, version });
    }
    return one;
  };
  const onHeader = (names: readonly string[]): void => {
    found = note(tableOf(Object.fromEntries(names.map((name) => [name, null]))));
  };
  for await (const { row, line } of readRows(path, onHeader)) {
    found ??= note(tableOf(row));
    if ("why" in found) return;
    const { table } = found;
    try {
      checkColumns(row, table);
    } catch (cause) {
      throw new Error(`line ${line}: ${errorMessage(cause)}`, { cause });
    }
    rows += 1;
    if (table !== "customers" && rows > MAX_ROWS)
      throw new Error(`it has more than ${MAX_ROWS} rows; split the export`);
    NOTE_ROW[table](row, index, `${basename(path)}:${line}`, namelessMembers);
  }
  // A table without rows has no columns in JSON.
  if (found === undefined) note(tableNamed(basename(path)));
}

type NoteRow = (row: Row, index: ExportIndex, at: string, nameless: string[]) => void;

/** What the index keeps of a row. */
const NOTE_ROW: Readonly<Record<ReadTable, NoteRow>> = {
  budgets(row, { budgets }) {
    const id = idAt(row, "budget_id");
    const kept = BUDGET_COLUMNS.map((column) => [column, row[column]] as const);
    if (id !== undefined) budgets.set(id, Object.fromEntries(kept));
  },
  organizations(row, { organizations }) {
    const id = idAt(row, "organization_id");
    if (id !== undefined) organizations.add(id);
  },
  access_groups(row, { groups }) {
    const [id, name] = [textAt(row, "access_group_id"), idAt(row, "access_group_name")];
    if (id !== undefined && name !== undefined) groups.set(id, name);
  },
  users(row, { users }) {
    const id = idAt(row, "user_id");
    if (id !== undefined) users.set(id, { hasNoModels: listAt(row, "models").includes(NO_MODEL) });
  },
  teams: noteTeam,
  keys: noteKey,
  customers: () => undefined,
  organization_memberships(row, { organizationRoles }) {
    const [userId, organizationId] = [idAt(row, "user_id"), idAt(row, "organization_id")];
    if (userId === undefined || organizationId === undefined) return;
    const isAdmin = textAt(row, "user_role") === "org_admin";
    valueOf(organizationRoles, userId, () => []).push({ organizationId, isAdmin });
  },
  team_memberships(row, { members }, at) {
    const [userId, teamId] = [idAt(row, "user_id"), idAt(row, "team_id")];
    if (userId === undefined || teamId === undefined) return;
    const ofTeam = valueOf(members, teamId, () => new Map<string, Member>());
    ofTeam.set(userId, { role: "member", ...ofTeam.get(userId), row: keptOf(row), at });
  },
  model_aliases(row, { aliases }) {
    const id = row["id"];
    const isId = typeof id === "string" || numberAt(row, "id") !== undefined;
    if (isId) aliases.set(String(id), { aliases: row["aliases"] });
  },
};

function keptOf(row: Row): Row {
  return { spend: row["spend"], budget_id: row["budget_id"] };
}

function noteTeam(row: Row, { teams, members }: ExportIndex, at: string, nameless: string[]): void {
  const teamId = idAt(row, "team_id");
  if (teamId === undefined) return;
  teams.set(teamId, idAt(row, "organization_id") ?? null);
  const written = hasContent(row, "members_with_roles") ? jsonAt(row, "members_with_roles") : [];
  for (const member of Array.isArray(written) ? written : []) {
    const userId = isObject(member) ? idAt(member, "user_id") : undefined;
    if (userId === undefined || !isObject(member)) {
      nameless.push(at);
      continue;
    }
    const ofTeam = valueOf(members, teamId, () => new Map<string, Member>());
    const role = member["role"] === "admin" ? "admin" : "member";
    ofTeam.set(userId, { at, ...ofTeam.get(userId), role });
  }
}

function noteKey(row: Row, index: ExportIndex, at: string): void {
  const [userId, teamId] = [idAt(row, "user_id"), idAt(row, "team_id")];
  const organizationId = idAt(row, "organization_id");
  index.keyPlaces.add(JSON.stringify([teamId ?? null, organizationId ?? null]));
  if (userId === undefined) return;
  if (teamId === undefined) {
    if (organizationId !== undefined)
      valueOf(index.keyOrganizations, userId, () => new Set<string>()).add(organizationId);
    return;
  }
  index.keyMembers.push({ userId, teamId, at });
}

/**
 * A key of a user in a team works in LiteLLM, whether the user is a member or not: it was made by
 * an administrator. Here the user becomes a member.
 */
function completeMembers({ keyMembers, members, users }: ExportIndex): void {
  for (const { userId, teamId, at } of keyMembers) {
    if (!users.has(userId)) continue;
    const ofTeam = valueOf(members, teamId, () => new Map<string, Member>());
    if (!ofTeam.has(userId)) ofTeam.set(userId, { role: "member", at });
  }
  keyMembers.length = 0;
}

/** The organizations that keys of an export belong to; `""`: some belong to none. */
export function placesOfKeys({ keyPlaces, teams }: ExportIndex): readonly string[] {
  const places = [...keyPlaces].map((place) => {
    const [teamId, own] = parseJson(place) as [string | null, string | null];
    return (teamId === null ? null : teams.get(teamId)) ?? own ?? "";
  });
  return [...new Set(places)].toSorted();
}
