/** Admin routes for the audit: `GET /audit`, and its export as lines of JSON. */

import type { AuditLine, AuditOutcome, AuditQuery, AuditStore, JsonObject } from "@sluice/contract";
import { GatewayError } from "@sluice/contract";
import type { Visible } from "../access/may.ts";
import { type AdminRoutes, listed, TextAnswer } from "../access/route.ts";
import { invalid, refuseUnknown } from "./fields.ts";
import { timeIn } from "./time-query.ts";

const PARAMETERS = [
  "actor",
  "user",
  "action",
  "object",
  "outcome",
  "since",
  "until",
  "order",
  "limit",
  "cursor",
];
const OUTCOMES: readonly AuditOutcome[] = ["begun", "done", "refused", "failed"];
const ORDERS = ["newest", "oldest"] as const;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

/** The route. `audit` is absent where the store keeps none. */
export function auditRoute(audit: AuditStore | undefined): AdminRoutes {
  return {
    "GET /audit": listed("audit.read", async ({ query }, visible) => {
      refuseUnknown(query.keys(), PARAMETERS, "query parameter");
      const store = stored(audit);
      const asked = queryOf(query, visible);
      const lines = await store.list({ ...asked, limit: asked.limit + 1 });
      const shown = lines.slice(0, asked.limit);
      const last = shown.at(-1);
      const isMore = lines.length > shown.length && last !== undefined;
      return { lines: shown.map(auditView), next_cursor: isMore ? String(last.seq) : null };
    }),
    "GET /audit/export": listed("audit.export", async (request, visible) => {
      const { query } = request;
      refuseUnknown(query.keys(), EXPORT_PARAMETERS, "query parameter");
      const store = stored(audit);
      const asked = queryOf(query, visible);
      const read = (): Promise<readonly AuditLine[]> =>
        store.list({ ...asked, order: "oldest", limit: EXPORT_LIMIT + 1 });
      // The first page of an export is a line of the audit, its further pages are not.
      const lines =
        asked.after === undefined
          ? await request.audit.attempt(request, { after: filtersOf(query) }, read)
          : await read();
      return exportOf(lines);
    }),
  };
}

/** Lines of one page of an export. */
const EXPORT_LIMIT = 5_000;
const EXPORT_PARAMETERS = PARAMETERS.filter((name) => name !== "order" && name !== "limit");

function stored(audit: AuditStore | undefined): AuditStore {
  if (audit !== undefined) return audit;
  throw new GatewayError("not_found", "The store of this gateway keeps no audit.");
}

function filtersOf(query: URLSearchParams): JsonObject {
  return Object.fromEntries([...query].filter(([, value]) => value !== ""));
}

/** A page of an export: a line of the audit is a line of the text. */
function exportOf(lines: readonly AuditLine[]): TextAnswer {
  const shown = lines.slice(0, EXPORT_LIMIT);
  const last = shown.at(-1);
  const text = shown.map((line) => `${JSON.stringify(auditView(line))}\n`).join("");
  const isMore = lines.length > shown.length && last !== undefined;
  const more = isMore ? { "x-sluice-next-cursor": String(last.seq) } : {};
  return new TextAnswer("application/x-ndjson; charset=utf-8", text, more);
}

function queryOf(query: URLSearchParams, visible: Visible): AuditQuery {
  const read = (name: string): string | undefined => query.get(name) || undefined;
  const [actor, userId, action, object] = ["actor", "user", "action", "object"].map(read);
  const outcome = oneOf(read("outcome"), "outcome", OUTCOMES);
  const fromMs = timeIn(query, "since");
  const toMs = timeIn(query, "until");
  const after = wholeNumber(read("cursor"), "cursor", Number.MAX_SAFE_INTEGER);
  return {
    ...(actor !== undefined && { actor }),
    ...(userId !== undefined && { userId }),
    ...(action !== undefined && { action }),
    ...(object !== undefined && { object }),
    ...(outcome !== undefined && { outcome }),
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
    ...(visible !== "all" && { within: visible }),
    ...(after !== undefined && { after }),
    order: oneOf(read("order"), "order", ORDERS) ?? "newest",
    limit: wholeNumber(read("limit"), "limit", MAX_LIMIT) ?? DEFAULT_LIMIT,
  };
}

function oneOf<Word extends string>(
  text: string | undefined,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const found = words.find((word) => word === text);
  if (text === undefined || found !== undefined) return found;
  throw invalid(name, `The query parameter ${name} must be one of: ${words.join(", ")}.`);
}

function wholeNumber(text: string | undefined, name: string, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  const to = max === MAX_LIMIT ? ` to ${max}` : "";
  throw invalid(name, `The query parameter ${name} must be a whole number from 1${to}.`);
}

function auditView(line: AuditLine): JsonObject {
  return {
    seq: line.seq,
    at: new Date(line.atMs).toISOString(),
    actor: line.actor,
    user_id: line.userId,
    session: line.session,
    address: line.address,
    action: line.action,
    object: line.object,
    organization_id: line.organizationId,
    team_id: line.teamId,
    outcome: line.outcome,
    before: line.before,
    after: line.after,
    request_id: line.requestId,
    prev_hash: line.prevHash,
    hash: line.hash,
  };
}
