/**
 * Activity by day, of users, teams, tags, organizations and customers: `GET /user/daily/activity`
 * and its kin, made of `GET /spend/report`. All days are on the first page.
 */

import {
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRequest,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { addGroup, metricsOf, noSums, type Sums } from "./metrics.ts";
import { dayIn, isGroups, reportGroups, type ReportQuery } from "./report-groups.ts";

/** What an activity is about. */
interface Subject {
  /** The dimension of the report, and its member in a group. */
  readonly by: string;
  readonly member: string;
  /** The parameters that name some of them, with commas between, or leave some out. */
  readonly ids: readonly string[];
  readonly without: string;
}

const SUBJECTS: Readonly<Record<string, Subject>> = {
  user: { by: "user", member: "user_id", ids: ["user_id"], without: "" },
  team: {
    by: "team",
    member: "team_id",
    ids: ["team_ids", "team_id"],
    without: "exclude_team_ids",
  },
  tag: { by: "tag", member: "tag", ids: ["tags"], without: "" },
  organization: {
    by: "organization",
    member: "organization_id",
    ids: ["organization_ids"],
    without: "exclude_organization_ids",
  },
  customer: {
    by: "customer",
    member: "end_user",
    ids: ["end_user_ids", "end_user_id"],
    without: "exclude_end_user_ids",
  },
};

/** Ids that one request may name: each is a report of its own. */
const MAX_IDS = 50;

/** The kinds that have a route, with the segment of their path. */
export const ACTIVITIES: readonly (readonly [path: string, kind: string])[] = [
  ["/user/daily/activity", "user"],
  ["/team/daily/activity", "team"],
  ["/tag/daily/activity", "tag"],
  ["/organization/daily/activity", "organization"],
  ["/customer/daily/activity", "customer"],
  ["/end_user/daily/activity", "customer"],
];

/** The handler of a kind. */
export function dailyActivity(kind: string) {
  return async ({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> => {
    const subject = SUBJECTS[kind]!;
    const days = new Map<string, Day>();
    const filters = await filtersOf(query, subject, gateway);
    if (!("filters" in filters)) return filters;
    for (const filter of filters.filters) {
      for (const [list, dimensions] of listsOf(subject)) {
        // oxlint-disable-next-line no-await-in-loop -- one report after the other.
        const groups = await reportGroups(gateway, { ...filter, group_by: dimensions.join(",") });
        if (!isGroups(groups)) return groups;
        for (const group of groups) addTo(days, list, group, subject);
      }
    }
    return { status: 200, body: activityOf(days) };
  };
}

/** What a report of a day adds to: its metrics, and a list of the breakdown. */
type List = "models" | "providers" | "entities";

/** The sums of one value of a breakdown, by key too. */
interface Part {
  readonly sums: Sums;
  readonly byKey: Map<string, { readonly sums: Sums; readonly alias: JsonValue }>;
}

interface Day {
  readonly sums: Sums;
  readonly lists: Readonly<Record<List, Map<string, Part>>>;
  readonly keys: Map<string, { readonly sums: Sums; readonly alias: JsonValue }>;
}

function listsOf({ by }: Subject): readonly (readonly [List, readonly string[]])[] {
  return [
    ["entities", [by, "key"]],
    ["models", ["model", "key"]],
    ["providers", ["provider", "key"]],
  ];
}

/** The reports of a query: one for each id that it names, or does not leave out. */
async function filtersOf(
  query: URLSearchParams,
  { ids, member, by, without }: Subject,
  gateway: EdgeGateway,
): Promise<{ readonly filters: readonly ReportQuery[] } | EdgeAnswer> {
  const filter: ReportQuery = {
    from: dayIn(query, "start_date"),
    to: dayIn(query, "end_date"),
    bucket: "day",
    model: query.get("model") || undefined,
    api_key: query.get("api_key") || undefined,
  };
  const left = new Set(listIn(query, without));
  let named = ids.flatMap((name) => listIn(query, name));
  if (named.length === 0 && left.size === 0) return { filters: [filter] };
  if (named.length === 0) {
    const groups = await reportGroups(gateway, { ...filter, bucket: "none", group_by: by });
    if (!isGroups(groups)) return groups;
    named = groups.flatMap(({ [member]: id = null }) => (id === null ? [] : String(id)));
  }
  const kept = [...new Set(named)].filter((id) => !left.has(id));
  if (kept.length > MAX_IDS)
    throw new GatewayError(
      "invalid_field",
      `The query names ${kept.length} ids: at most ${MAX_IDS} are possible.`,
      { param: ids[0] ?? member },
    );
  return { filters: kept.map((id) => ({ ...filter, [member]: id })) };
}

function listIn(query: URLSearchParams, name: string): readonly string[] {
  const text = name === "" ? "" : (query.get(name) ?? "");
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

const LIST_MEMBERS: Readonly<Record<List, string>> = {
  models: "model",
  providers: "provider",
  entities: "",
};

/** Adds a group. The sums of a day are those of its models: every row has one. */
function addTo(days: Map<string, Day>, list: List, group: JsonObject, { member }: Subject): void {
  const date = String(group.start).slice(0, 10);
  let day = days.get(date);
  if (day === undefined) days.set(date, (day = newDay()));
  const value = group[list === "entities" ? member : LIST_MEMBERS[list]] ?? null;
  const [name, key] = [String(value ?? "Unassigned"), String(group.api_key ?? "")];
  const part = entryOf(day.lists[list], name, () => ({ sums: noSums(), byKey: new Map() }));
  const alias = group.key_alias ?? null;
  addGroup(part.sums, group);
  addGroup(entryOf(part.byKey, key, () => ({ sums: noSums(), alias })).sums, group);
  if (list !== "models") return;
  addGroup(day.sums, group);
  addGroup(entryOf(day.keys, key, () => ({ sums: noSums(), alias })).sums, group);
}

function newDay(): Day {
  const lists = { models: new Map(), providers: new Map(), entities: new Map() };
  return { sums: noSums(), lists, keys: new Map() };
}

function entryOf<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  let value = map.get(name);
  if (value === undefined) map.set(name, (value = make()));
  return value;
}

function activityOf(days: ReadonlyMap<string, Day>): JsonObject {
  const all = noSums();
  const results = [...days]
    .toSorted(([one], [other]) => (one < other ? 1 : -1))
    .map(([date, day]) => {
      addSums(all, day.sums);
      return { date, metrics: metricsOf(day.sums), breakdown: breakdownOf(day) };
    });
  const totals = Object.entries(metricsOf(all)).map(([name, value]) => [`total_${name}`, value]);
  return {
    results,
    metadata: {
      ...(Object.fromEntries(totals) as JsonObject),
      page: 1,
      total_pages: 1,
      has_more: false,
    },
  };
}

function addSums(into: Sums, sums: Sums): void {
  into.nanoUsd += sums.nanoUsd;
  into.promptTokens += sums.promptTokens;
  into.completionTokens += sums.completionTokens;
  into.cachedTokens += sums.cachedTokens;
  into.totalTokens += sums.totalTokens;
  into.rows += sums.rows;
  into.failedRows += sums.failedRows;
  into.requests += sums.requests;
}

function breakdownOf({ lists, keys }: Day): JsonObject {
  const parts = (map: ReadonlyMap<string, Part>): JsonObject =>
    Object.fromEntries(
      [...map].map(([name, { sums, byKey }]) => [
        name,
        { metrics: metricsOf(sums), metadata: {}, api_key_breakdown: keysOf(byKey) },
      ]),
    );
  const models = parts(lists.models);
  return {
    models,
    model_groups: models,
    providers: parts(lists.providers),
    entities: parts(lists.entities),
    endpoints: {},
    mcp_servers: {},
    api_keys: keysOf(keys),
  };
}

function keysOf(
  keys: ReadonlyMap<string, { readonly sums: Sums; readonly alias: JsonValue }>,
): JsonObject {
  return Object.fromEntries(
    [...keys].map(([id, { sums, alias }]) => [
      id,
      { metrics: metricsOf(sums), metadata: { key_alias: alias } },
    ]),
  );
}
