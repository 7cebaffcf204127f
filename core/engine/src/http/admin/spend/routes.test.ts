import {
  GatewayError,
  type SpendGroup,
  type SpendReportQuery,
  type SpendSums,
} from "@sluice/contract";
import { expect, test } from "vitest";
import { RequestAccess } from "../../access/access.ts";
import type { Principal } from "../../access/may.ts";
import type { AdminRequest } from "../../access/route.ts";
import { spendRoutes } from "./routes.ts";

type Report = (query: SpendReportQuery) => readonly SpendGroup[];

/** What a route answers to a principal, and what it asks the ledger, which has `groups`. */
async function answered(
  route: "GET /spend/report" | "GET /spend/summary",
  principal: Principal,
  text: string,
  groups: Report = () => [],
): Promise<{ readonly answer: unknown; readonly queries: readonly SpendReportQuery[] }> {
  const queries: SpendReportQuery[] = [];
  const report = async (query: SpendReportQuery): Promise<readonly SpendGroup[]> => {
    queries.push(query);
    return groups(query);
  };
  const routes = spendRoutes({ report }, async (key) => {
    if (key === "alias") return "key_1";
    throw new GatewayError("not_found", "No key.");
  });
  // The route changes nothing: it has no audit and no grants.
  const request = {
    query: new URLSearchParams(text),
    parameters: {},
    body: {},
    principal,
    action: "spend.read",
    requestId: "r",
    address: null,
    checkForm: () => undefined,
  } as unknown as AdminRequest;
  const answer = await routes[route]?.answer(request, new RequestAccess(request));
  return { answer, queries };
}

/** What the report asks the ledger for a principal. */
async function asked(principal: Principal, text: string): Promise<SpendReportQuery | undefined> {
  return (await answered("GET /spend/report", principal, text)).queries[0];
}

const SPAN = "from=2030-01-03&to=2030-01-04&bucket=day&group_by=team";
const MASTER: Principal = { kind: "master", keyId: "master", roles: [] };

/** A group whose cost is so many dollars, and whose other sums are one. */
function group(ids: readonly string[], dollars: number): SpendGroup {
  const one = {
    ...(Object.fromEntries(SUMS.map((name) => [name, 1n])) as Record<keyof SpendSums, bigint>),
    costNanoUsd: BigInt(dollars) * 1_000_000_000n,
  };
  return { startMs: ids.length === 0 ? Date.parse("2030-01-03") : null, ids, sums: one };
}

const SUMS: readonly (keyof SpendSums)[] = [
  "requests",
  "rows",
  "failedRows",
  "partialRows",
  "unpricedRows",
  "estimatedRows",
  "cacheHits",
  "promptTokens",
  "completionTokens",
  "totalTokens",
  "cachedTokens",
  "reasoningTokens",
  "lostNanoUsd",
];

const user = (roles: Principal["roles"]): Principal => ({
  kind: "user",
  keyId: "k",
  userId: "u",
  roles,
});

test("roles bound the query itself, whatever it filters by", async () => {
  const viewer = user([
    { role: "viewer", place: { kind: "organization", id: "o" } },
    { role: "admin", place: { kind: "team", id: "t" } },
  ]);
  expect(await asked(viewer, "team_id=another")).toMatchObject({
    filter: { team: "another" },
    within: [{ organization: "o" }, { team: "t" }, { user: "u" }],
  });
  expect(await asked(user([]), "")).toMatchObject({ within: [{ user: "u" }] });
  const all = user([{ role: "viewer", place: { kind: "whole" } }]);
  for (const principal of [all, { kind: "master", keyId: "master", roles: [] } as const])
    expect(await asked(principal, "")).not.toHaveProperty("within");
});

test("a caller without a role is refused, and asks nothing", async () => {
  for (const kind of ["key", "read_key"] as const)
    await expect(asked({ kind, keyId: "k", roles: [] }, "")).rejects.toMatchObject({
      code: "permission_denied",
    });
});

test("a key is named by its alias, and a deleted one by its id", async () => {
  expect(await asked(MASTER, "api_key=alias")).toMatchObject({ filter: { key: "key_1" } });
  expect(await asked(MASTER, "api_key=key_gone")).toMatchObject({ filter: { key: "key_gone" } });
});

test("a summary has the span before, of the same length, beside each group", async () => {
  const from = Date.parse("2030-01-03");
  const { answer, queries } = await answered("GET /spend/summary", MASTER, SPAN, (query) => {
    if (query.by.length === 0) return [group([], 4), group([], 3)];
    return query.toMs === from ? [group(["b"], 5)] : [group(["a"], 4), group(["b"], 3)];
  });
  expect(answer).toMatchObject({
    total: { spend: 7, spend_nano_usd: "7000000000", requests: 2, reasoning_tokens: 2 },
    times: [{ start: "2030-01-03T00:00:00.000Z", spend: 4 }, { spend: 3 }],
    groups: [
      { team_id: "a", spend: 4, spend_before: null },
      { team_id: "b", spend: 3, spend_before: 5 },
    ],
  });
  expect(queries.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
    [from, from + 172_800_000],
    [from, from + 172_800_000],
    [from - 172_800_000, from],
  ]);
});

test("roles and filters bound each part of a summary", async () => {
  const viewer = user([{ role: "viewer", place: { kind: "organization", id: "o" } }]);
  const { queries } = await answered("GET /spend/summary", viewer, `${SPAN}&api_key=alias`);
  expect(queries).toHaveLength(3);
  for (const query of queries)
    expect(query).toMatchObject({
      filter: { key: "key_1" },
      within: [{ organization: "o" }, { user: "u" }],
    });
});
