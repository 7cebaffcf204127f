/** What the imports of all kinds have in common. */

import type { JsonObject, JsonValue, KeyRecord, TenantStore } from "@sluice/contract";
import { NO_TENANTS } from "../../../config/tenants/declared-tenants.ts";
import type { AuditChange } from "../../access/audit.ts";
import type { AdminRequest } from "../../access/route.ts";
import { invalid, readDollars } from "../fields.ts";
import type { KeyRouteParts } from "../keys/routes.ts";
import { changeRecords, type TenantRouteParts } from "../tenants/parts.ts";
import { readRequires } from "./requires.ts";

/** What became of one entry. */
export interface Result {
  readonly outcome: "added" | "unchanged" | "refused";
  readonly id: string | null;
  /** Why it was not added; null where it was. */
  readonly reason: string | null;
  /** What it names and the gateway does not have: `team`, `budget`, …. */
  readonly missing?: string;
  /** Fields that the record has otherwise than the entry, and why. */
  readonly changed?: readonly string[];
}

/** The parts of the routes. `tenants` absent: the store keeps keys and teams alone. */
export interface ImportRouteParts extends KeyRouteParts {
  readonly tenants?: TenantRouteParts;
}

/** The parts of one request. */
export interface ImportParts extends ImportRouteParts {
  readonly request: AdminRequest;
  readonly isDryRun: boolean;
}

/** Makes one record of an entry. Throws `invalid_field` for an entry that cannot be one. */
export type TakeEntry = (entry: JsonObject, parts: ImportParts) => Promise<Result>;

/** Fields of an entry that are no members of its record. */
export const IMPORT_FIELDS: readonly string[] = ["spend", "spend_at", "created_at", "requires"];

/** The records that an entry is written to. */
export interface ImportRecords {
  readonly keys: KeyRouteParts["keys"];
  readonly teams: KeyRouteParts["teams"];
  readonly tenants?: TenantStore;
}

/** Inserts a record, with its line of the audit. */
export async function insert<Outcome extends string>(
  { tenants, request, keyRing }: ImportParts,
  change: AuditChange,
  write: (records: ImportRecords) => Promise<Outcome>,
): Promise<Outcome> {
  if (tenants !== undefined) return changeRecords(tenants, request, change, write);
  const outcome = await request.audit.change(request, change, write);
  keyRing.forget();
  return outcome;
}

/** The refusal of an entry that names something that does not exist; `undefined` without one. */
export async function missingOf(
  entry: JsonObject,
  id: string | null,
  { tenants, teams, declaredTeams }: ImportParts,
): Promise<Result | undefined> {
  const declared = tenants?.declaredTenants() ?? NO_TENANTS;
  const store = tenants?.records.tenants;
  for (const required of readRequires(entry["requires"] ?? null)) {
    const { kind } = required;
    const isOne = (record: object): boolean =>
      Object.entries(required.id).every(
        ([name, value]) => (record as Readonly<Record<string, unknown>>)[name] === value,
      );
    const isThere =
      kind === "team"
        ? declaredTeams().some(isOne) || (await teams.find(required.id.id)) !== undefined
        : kind === "membership"
          ? declared.membership.some(isOne) ||
            (await store?.membership.find(required.id)) !== undefined
          : declared[kind].some(isOne) || (await store?.[kind].find(required.id)) !== undefined;
    if (!isThere) return { ...refused(id, `its ${kind} does not exist`), missing: kind };
  }
  return undefined;
}

/** When it was made, and what it had spent. */
export function originOf(
  entry: JsonObject,
  nowMs: number,
): Pick<KeyRecord, "createdAtMs" | "importedSpend"> {
  const createdAtMs = readPast(entry["created_at"] ?? null, "created_at") ?? nowMs;
  const spend = readDollars(entry["spend"] ?? 0, "spend");
  if (spend === 0) return { createdAtMs };
  const atMs = readPast(entry["spend_at"] ?? null, "spend_at") ?? nowMs;
  return { createdAtMs, importedSpend: { nanoUsd: spend, atMs } };
}

function readPast(value: JsonValue, name: string): number | undefined {
  if (value === null) return undefined;
  const timeMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(timeMs)) return timeMs;
  throw invalid(name, `The field ${name} must be a time, such as 2026-01-31T12:00:00Z.`);
}

/** The record was added, or would be. */
export function added(id: string, changed: readonly string[] = []): Result {
  return { outcome: "added", id, reason: null, ...(changed.length > 0 && { changed }) };
}

/** Nothing was changed, and nothing has to be. */
export function unchanged(id: string, reason: string): Result {
  return { outcome: "unchanged", id, reason };
}

/** The record was not added. */
export function refused(id: string | null, reason: string): Result {
  return { outcome: "refused", id, reason };
}
