/** LiteLLM's routes of budgets and of groups of models. */

import type { EdgeAnswer, EdgeGateway, ExtensionRequest, JsonObject } from "@sluice/contract";
import { adminRoute, type AdminExtensionRoute, mapped, post, write } from "./calls.ts";
import { everyRecord, isRecords, LIMIT_RULES, recordOf, textsIn } from "./records.ts";
import { id } from "./translate.ts";

const { budget_id: _own, ...SHARED } = LIMIT_RULES;
const RULES = { ...SHARED, organization_id: id("organization_id") };

function budgetView(record: JsonObject): JsonObject {
  return { model_max_budget: {}, ...record, updated_at: record.created_at ?? null };
}

/** A budget without an id has one that the gateway makes. */
function create({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const { budget_id: given = null } = body;
  const budgetId = given === null || given === "" ? `budget_${crypto.randomUUID()}` : given;
  return write(
    gateway,
    { ...body, budget_id: budgetId },
    { path: "/budget/new", rules: RULES, isNew: true, view: budgetView },
  );
}

function update({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  return write(gateway, body, {
    path: "/budget/update",
    rules: RULES,
    isNew: false,
    view: budgetView,
  });
}

/** The budgets of a list; unknown ids are left out. */
async function infos({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const rows: JsonObject[] = [];
  for (const budgetId of textsIn(body.budgets)) {
    // oxlint-disable-next-line no-await-in-loop -- a bounded list, one look-up after the other.
    const found = await recordOf(gateway, "budget", { budget_id: budgetId });
    if ("record" in found) rows.push(budgetView(found.record));
    else if (found.failed.status !== 404) return found.failed;
  }
  return { status: 200, body: rows };
}

async function list(_request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const all = await everyRecord(gateway, "/budget/list", "budgets");
  return isRecords(all) ? { status: 200, body: all.map(budgetView) } : all;
}

/** Deletes one budget. The answer is its row. */
async function remove({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const budgetId = String(body.id ?? body.budget_id ?? "");
  const found = await recordOf(gateway, "budget", { budget_id: budgetId });
  if ("failed" in found) return found.failed;
  const answer = await post(gateway, "/budget/delete", { budget_ids: [budgetId] });
  return mapped(answer, () => budgetView(found.record));
}

/** The routes. */
export const BUDGET_ROUTES: readonly AdminExtensionRoute[] = [
  adminRoute("POST /budget/new", "budget.write", create),
  adminRoute("POST /budget/update", "budget.write", update),
  adminRoute("POST /budget/info", "budget.read", infos),
  adminRoute("GET /budget/list", "budget.read", list),
  adminRoute("POST /budget/delete", "budget.write", remove),
];
