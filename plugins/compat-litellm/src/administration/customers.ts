/** LiteLLM's routes of customers, under both of its names for them. */

import {
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRequest,
  GatewayError,
  type JsonObject,
} from "@sluice/contract";
import { adminRoute, type AdminExtensionRoute, mapped, objectIn, post, write } from "./calls.ts";
import { budgetTable, everyRecord, isRecords, LIMIT_RULES, recordOf, textsIn } from "./records.ts";
import { DROP, type FieldRules } from "./translate.ts";

const RULES: FieldRules = {
  ...LIMIT_RULES,
  user_id: { to: "customer_id" },
  alias: { to: "customer_alias" },
  allowed_model_region: { refuse: "Restrict the customer by `models`." },
  default_model: DROP,
};

function customerView(record: JsonObject): JsonObject {
  return {
    user_id: record.customer_id ?? null,
    alias: record.customer_alias ?? null,
    spend: 0,
    allowed_model_region: null,
    default_model: null,
    ...record,
    litellm_budget_table: budgetTable(record),
  };
}

function create({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  return write(gateway, body, {
    path: "/customer/new",
    rules: RULES,
    isNew: true,
    view: customerView,
  });
}

function update({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  return write(gateway, body, {
    path: "/customer/update",
    rules: RULES,
    isNew: false,
    view: customerView,
  });
}

async function info({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const found = await recordOf(gateway, "customer", {
    customer_id: query.get("end_user_id") || undefined,
    organization_id: query.get("organization_id") || undefined,
  });
  return "failed" in found ? found.failed : { status: 200, body: customerView(found.record) };
}

async function list({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const all = await everyRecord(gateway, "/customer/list", "customers", {
    organization_id: query.get("organization_id") || undefined,
  });
  return isRecords(all) ? { status: 200, body: all.map(customerView) } : all;
}

async function remove({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await post(gateway, "/customer/delete", {
    customer_ids: idsOf(body),
    ...(body.organization_id === undefined ? {} : { organization_id: body.organization_id }),
  });
  return mapped(answer, ({ deleted_customers: deleted }) => ({
    deleted_customers: textsIn(deleted).length,
    message: "The customers are deleted.",
  }));
}

/** Blocks customers, or unblocks them. One that was never seen is made, and blocked. */
function setBlocked(blocked: boolean) {
  return async ({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> => {
    const rows: JsonObject[] = [];
    for (const customerId of idsOf(body)) {
      const named = {
        customer_id: customerId,
        ...(body.organization_id === undefined ? {} : { organization_id: body.organization_id }),
      };
      const path = blocked ? "/customer/block" : "/customer/unblock";
      // oxlint-disable-next-line no-await-in-loop -- one customer after the other, as they are listed.
      const answer = await post(gateway, path, named);
      const isNew = blocked && answer.status === 404;
      // oxlint-disable-next-line no-await-in-loop
      const made = isNew ? await post(gateway, "/customer/new", { ...named, blocked }) : answer;
      if (made.status >= 300) return made;
      rows.push(customerView(objectIn(made)));
    }
    return { status: 200, body: { blocked_users: rows } };
  };
}

function idsOf(body: JsonObject): readonly string[] {
  const ids = textsIn(body.user_ids);
  if (ids.length > 0) return ids;
  throw new GatewayError(
    "invalid_field",
    "The field user_ids is missing: an array of the ids of customers.",
    { param: "user_ids" },
  );
}

/** The routes. */
export const CUSTOMER_ROUTES: readonly AdminExtensionRoute[] = (
  ["/customer", "/end_user"] as const
).flatMap((path) => [
  adminRoute(`POST ${path}/new`, "customer.write", create),
  adminRoute(`POST ${path}/update`, "customer.write", update),
  adminRoute(`GET ${path}/info`, "customer.read", info),
  adminRoute(`GET ${path}/list`, "customer.read", list),
  adminRoute(`POST ${path}/delete`, "customer.write", remove),
  adminRoute(`POST ${path}/block`, "customer.write", setBlocked(true)),
  adminRoute(`POST ${path}/unblock`, "customer.write", setBlocked(false)),
]);
