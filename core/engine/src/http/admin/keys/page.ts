/** `GET /key/list` by pages of any length: short rows, with the use of each key. */

import {
  type JsonObject,
  type KeyListing,
  type KeyOrder,
  type KeyPageQuery,
  type KeyRecord,
  type KeyStatus,
  type LedgerStore,
  madeTag,
} from "@sluice/contract";
import { anchoredPeriod, budgetPeriod, importedSince } from "@sluice/runtime";
import type { DeclaredKey } from "../../../config/snapshot.ts";
import { isVisible, type Visible } from "../../access/may.ts";
import { fitting } from "../bounded-page.ts";
import { budgetDollars } from "../dollars.ts";
import { invalid } from "../fields.ts";
import { belongingOf, type PlaceParts } from "../locate.ts";
import { declaredView, keyView } from "../record-view.ts";
import type { BudgetParts } from "../budget-view.ts";

/** The parts of the list. */
export interface KeyPageParts extends PlaceParts, Omit<BudgetParts, "ledger"> {
  readonly ledger: Pick<LedgerStore, "uses">;
}

/** Parameters of the paged list alone. */
export const PAGED_PARAMETERS = ["search", "status", "sort", "limit", "cursor"] as const;

const DEFAULT_LIMIT = 50;
/** Models that a row names; it counts all. */
const SHOWN_MODELS = 5;
const READ_TIMEOUT_MS = 4_000;
/** Keys of the configuration come before those of the store. */
const DECLARED = "file:";

/** A key of the list. */
interface Listed {
  readonly view: JsonObject;
  /** The place behind it. */
  readonly cursor: string;
  readonly budgeted: Pick<KeyRecord, "maxBudgetNanoUsd" | "budgetDuration"> &
    Partial<Pick<KeyRecord, "budgetAnchor" | "createdAtMs" | "importedSpend">>;
  readonly declaredIn: string | null;
}

/** A page. Rows that do not fit into 64 KB are on the next one. */
export async function keyPage(
  query: URLSearchParams,
  visible: Visible,
  parts: KeyPageParts,
): Promise<JsonObject> {
  const asked = askedOf(query, parts.clock.now());
  const listed = await listedKeys(asked, visible, parts);
  const shown = listed.slice(0, asked.limit);
  const rows = await rowsOf(shown, parts);
  const fit = fitting(rows);
  const last = shown[fit.length - 1];
  const isMore = fit.length < listed.length && last !== undefined;
  return { keys: fit, next_cursor: isMore ? last.cursor : null };
}

function askedOf(query: URLSearchParams, nowMs: number): KeyPageQuery {
  const given = (name: string): string | undefined => query.get(name) || undefined;
  if (given("page") !== undefined || given("size") !== undefined)
    throw invalid("page", "Send limit and cursor, or page and size, not both.");
  const members = {
    search: given("search"),
    status: given("status") as KeyStatus | undefined,
    order: given("sort") as KeyOrder | undefined,
    after: given("cursor"),
    userId: given("user_id"),
    teamId: given("team_id"),
    organizationId: given("organization_id"),
  };
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  const limit = Number(given("limit") ?? DEFAULT_LIMIT);
  return { ...(Object.fromEntries(present) as Partial<KeyPageQuery>), limit, nowMs };
}

/** The keys of the page, and one more where there are more. */
async function listedKeys(
  asked: KeyPageQuery,
  visible: Visible,
  parts: KeyPageParts,
): Promise<readonly Listed[]> {
  const declared = declaredKeys(asked, visible, parts);
  const left = asked.limit + 1 - declared.length;
  if (left <= 0) return declared.slice(0, asked.limit + 1);
  const isBegin = asked.after === undefined || asked.after.startsWith(DECLARED);
  const { after: _, ...begin } = asked;
  const page: KeyListing = await parts.keys.page({
    ...(isBegin ? begin : asked),
    limit: left,
    ...(visible !== "all" && { within: visible }),
  });
  return [...declared, ...page.keys.map(({ key, cursor }) => listedRecord(key, cursor))];
}

function listedRecord(record: KeyRecord, cursor: string): Listed {
  return { view: keyView(record), cursor, budgeted: record, declaredIn: null };
}

/** Declared keys that match, by their aliases, behind the cursor. */
function declaredKeys(
  { search = "", status, after, userId, teamId, organizationId, nowMs }: KeyPageQuery,
  visible: Visible,
  parts: KeyPageParts,
): readonly Listed[] {
  if (after !== undefined && !after.startsWith(DECLARED)) return [];
  const from = after === undefined ? undefined : readDeclaredCursor(after);
  const isMatch = (key: DeclaredKey): boolean => {
    const belonging = belongingOf(parts, key);
    const texts = [key.alias, `yaml:${key.alias}`, key.userId];
    return (
      (from === undefined || key.alias > from) &&
      (search === "" || texts.some((text) => text?.startsWith(search))) &&
      (userId === undefined || key.userId === userId) &&
      (teamId === undefined || key.teamId === teamId) &&
      (organizationId === undefined || belonging.organizationId === organizationId) &&
      (status === undefined || statusOf(declaredView(key), nowMs) === status) &&
      isVisible(visible, belonging)
    );
  };
  return parts
    .declared()
    .filter(isMatch)
    .sort((a, b) => (a.alias < b.alias ? -1 : 1))
    .map((key) => ({
      view: declaredView(key),
      cursor: `${DECLARED}${Buffer.from(key.alias).toString("base64url")}`,
      budgeted: key.limits ?? { maxBudgetNanoUsd: null, budgetDuration: null },
      declaredIn: `${key.at.file}:${key.at.line}`,
    }));
}

function readDeclaredCursor(cursor: string): string {
  return Buffer.from(cursor.slice(DECLARED.length), "base64url").toString();
}

function statusOf({ blocked, expires }: JsonObject, nowMs: number): KeyStatus {
  if (blocked === true) return "blocked";
  return typeof expires === "string" && Date.parse(expires) <= nowMs ? "expired" : "active";
}

/** The rows, with the use of all keys from one question. */
async function rowsOf(
  listed: readonly Listed[],
  { ledger, clock, timeZone }: KeyPageParts,
): Promise<readonly JsonObject[]> {
  const nowMs = clock.now();
  const periods = listed.map(({ budgeted }) => periodOf(budgeted, nowMs, timeZone));
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const uses = await ledger.uses(
    listed.map(({ view }, index) => ({
      keyId: String(view["token_id"]),
      tag: madeTag(String(view["token_id"])),
      fromMs: Math.max(0, periods[index]?.startMs ?? 0),
    })),
    signal,
  );
  return listed.map(({ view, budgeted, declaredIn }, index) => {
    const { startMs = 0, endMs = null } = periods[index] ?? {};
    const { costNanoUsd = 0, lastUsedAtMs = null } = uses[index] ?? {};
    const models = view["models"] as readonly string[];
    const spent = costNanoUsd + importedSince(budgeted.importedSpend, startMs);
    return {
      ...short(view),
      declared_in: declaredIn,
      status: statusOf(view, nowMs),
      models: models.slice(0, SHOWN_MODELS),
      models_total: models.length,
      spend: budgetDollars(spent),
      spend_since: startMs <= 0 ? null : new Date(startMs).toISOString(),
      budget_reset_at: endMs === null ? null : new Date(endMs).toISOString(),
      last_used_at: lastUsedAtMs === null ? null : new Date(lastUsedAtMs).toISOString(),
    };
  });
}

const SHORT = [
  "token_id",
  "key_name",
  "key_alias",
  "managed_by",
  "user_id",
  "team_id",
  "organization_id",
  "admin",
  "max_budget",
  "soft_budget",
  "budget_duration",
  "budget_id",
  "rpm_limit",
  "tpm_limit",
  "max_parallel_requests",
  "expires",
  "previous_key_until",
  "created_at",
];

function short(view: JsonObject): JsonObject {
  return Object.fromEntries(SHORT.map((name) => [name, view[name] ?? null]));
}

/**
 * The period whose spend a row shows: that of the budget. Without a budget it is the month, because
 * a sum of all times would be read anew for each page.
 */
function periodOf(budgeted: Listed["budgeted"], nowMs: number, timeZone: string) {
  const { maxBudgetNanoUsd: max, budgetDuration: duration, budgetAnchor } = budgeted;
  if (budgetAnchor === "creation" && duration !== null)
    return anchoredPeriod(duration, nowMs, timeZone, budgeted.createdAtMs ?? 0);
  return budgetPeriod(duration ?? (max === null ? "1mo" : null), nowMs, timeZone);
}
