import { GatewayError, type SpendReportQuery } from "@sluice/contract";
import { expect, test } from "vitest";
import { RequestAccess } from "../../access/access.ts";
import type { Principal } from "../../access/may.ts";
import type { AdminRequest } from "../../access/route.ts";
import { spendRoutes } from "./routes.ts";

/** What the route asks the ledger for a principal. */
async function asked(principal: Principal, text: string): Promise<SpendReportQuery | undefined> {
  const queries: SpendReportQuery[] = [];
  const ledger = { report: async (query: SpendReportQuery) => (queries.push(query), []) };
  const routes = spendRoutes(ledger, async (key) => {
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
  await routes["GET /spend/report"]?.answer(request, new RequestAccess(request));
  return queries[0];
}

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
  const master: Principal = { kind: "master", keyId: "master", roles: [] };
  expect(await asked(master, "api_key=alias")).toMatchObject({ filter: { key: "key_1" } });
  expect(await asked(master, "api_key=key_gone")).toMatchObject({ filter: { key: "key_gone" } });
});
