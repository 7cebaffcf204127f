/** `GET /global/spend/report` in LiteLLM's shape, made of `GET /spend/report`. */

import {
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRequest,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { getOwn, objectIn, objectsIn } from "../administration/calls.ts";
import { dayIn, isGroups, reportGroups } from "./report-groups.ts";

/** How a report is grouped: our dimension, the member of a group, and LiteLLM's names. */
interface Grouping {
  readonly by: string;
  readonly member: string;
  readonly list: string;
  readonly name: string;
}

const GROUPINGS: Readonly<Record<string, Grouping>> = {
  team: { by: "team", member: "team_id", list: "teams", name: "team_name" },
  customer: { by: "customer", member: "end_user", list: "customers", name: "customer" },
  api_key: { by: "key", member: "api_key", list: "api_keys", name: "api_key" },
};

/** Spend by day, and in it by team, customer or key, each with its models. */
export async function spendReport(
  { query }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  const [from, to] = [dayIn(query, "start_date"), dayIn(query, "end_date")];
  const grouping = groupingOf(query.get("group_by") ?? "team");
  const groups = await reportGroups(gateway, {
    group_by: `${grouping.by},model`,
    bucket: "day",
    from,
    to,
    api_key: query.get("api_key") ?? undefined,
    user_id: query.get("internal_user_id") ?? undefined,
    team_id: query.get("team_id") ?? undefined,
    end_user: query.get("customer_id") ?? undefined,
  });
  if (!isGroups(groups)) return groups;
  return { status: 200, body: daysOf(groups, grouping, await namesOf(grouping, gateway)) };
}

function groupingOf(name: string): Grouping {
  const found = Object.hasOwn(GROUPINGS, name) ? GROUPINGS[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(GROUPINGS).join(", ");
  throw new GatewayError(
    "invalid_field",
    `The query parameter group_by must be one of: ${known}.`,
    { param: "group_by" },
  );
}

/** Aliases of teams by their ids, for callers who may list teams. */
async function namesOf(
  { by }: Grouping,
  gateway: EdgeGateway,
): Promise<ReadonlyMap<JsonValue, JsonValue>> {
  if (by !== "team") return new Map();
  const { status, body } = await getOwn(gateway, "/team/list");
  const teams =
    status === 200 ? objectsIn(Array.isArray(body) ? body : objectIn({ status, body }).teams) : [];
  return new Map(
    teams.flatMap(({ team_id: id = null, team_alias: alias = null }) =>
      alias === null ? [] : [[id, alias] as const],
    ),
  );
}

function daysOf(
  groups: readonly JsonObject[],
  { member, list, name }: Grouping,
  names: ReadonlyMap<JsonValue, JsonValue>,
): JsonValue {
  const days = new Map<string, Map<JsonValue, JsonObject[]>>();
  for (const group of groups) {
    const owner = group[member] ?? null;
    const day = String(group.start).slice(0, 10);
    const owners = days.get(day) ?? new Map<JsonValue, JsonObject[]>();
    days.set(day, owners.set(owner, [...(owners.get(owner) ?? []), group]));
  }
  return [...days].map(([day, owners]) => ({
    group_by_day: day,
    [list]: [...owners].map(([owner, models]) => ({
      [name]: names.get(owner) ?? owner,
      [member]: owner,
      total_spend: dollars(models),
      metadata: models.map(({ model = null, spend = null, total_tokens: tokens = null }) => ({
        model,
        spend,
        total_tokens: tokens,
        api_key: member === "api_key" ? owner : null,
      })),
    })),
  }));
}

/** The exact sum of nano-dollars, as dollars. */
function dollars(groups: readonly JsonObject[]): number {
  const nano = groups.reduce((sum, { spend_nano_usd: one }) => sum + BigInt(String(one ?? 0)), 0n);
  return Number(nano) / 1e9;
}
