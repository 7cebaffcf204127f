/** `sluice organizations`, `users`, `members`, `customers`, `budgets` and `access-groups`. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { admin } from "../support/client.ts";
import { type CommandHost, type Ran, startCommandHost } from "../support/command-host.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let gateway: GatewayProcess;
let host: CommandHost;

beforeAll(async () => {
  host = startCommandHost();
  gateway = await startGateway();
});
afterAll(async () => {
  host?.close();
  await gateway?.dispose();
});

function sluice(...args: readonly string[]): Promise<Ran> {
  const { port } = new URL(gateway.adminUrl);
  return host.run([...args, "--config", gateway.configPath], gateway.workspace.folder, {
    SLUICE_ADMIN_PORT: port,
  });
}

/** What a command that must work prints. */
async function out(...args: readonly string[]): Promise<string> {
  const ran = await sluice(...args);
  expect([ran.code, ran.error]).toEqual([0, ""]);
  return ran.out;
}

async function answer(...args: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await out(...args, "--json")) as Record<string, unknown>;
}

it("make, show, change, list and delete every kind", async () => {
  await answer("budgets", "create", "monthly", "--max-budget", "5", "--budget-duration", "1mo");
  expect(
    await answer("organizations", "create", "acme", "--alias", "Acme", "--budget", "monthly"),
  ).toMatchObject({ organization_id: "acme", budget_id: "monthly", budget_share: "each" });
  await answer("access-groups", "create", "small", "--models", "echo", "--organization", "acme");
  await answer("teams", "create", "core", "--organization", "acme", "--rpm", "10");
  const ann = ["ann", "--email", "ann@example.com", "--organizations", "acme", "--alias", "Ann"];
  expect(await answer("users", "create", ...ann)).toMatchObject({
    user_email: "ann@example.com",
    organizations: ["acme"],
    kind: "person",
  });
  expect(await out("members", "add", "core", "ann", "--role", "admin", "--rpm", "20")).toMatch(
    /^warning: rpm 20 can never be reached: the team "core" has 10\.$/m,
  );
  await answer(
    "customers",
    "create",
    "c-1",
    "--organization",
    "acme",
    "--per-model",
    '{"echo":{"rpm":1}}',
  );
  expect(await answer("customers", "info", "c-1", "--organization", "acme")).toMatchObject({
    organization_id: "acme",
    per_model: { echo: { rpm_limit: 1 } },
    spend: 0,
  });
  expect(await out("users", "list", "--organization", "acme")).toMatch(
    /^ann +Ann +ann@example\.com +person +acme$/m,
  );
  expect(await out("members", "list", "--team", "core")).toMatch(/^core +ann +admin +20 rpm$/m);
  expect(await out("teams", "list", "--organization", "acme")).toMatch(/^core +acme +10 rpm$/m);
  expect(await out("access-groups", "list")).toMatch(/^small +acme +echo$/m);
  expect(await out("budgets", "list")).toMatch(/^monthly +5 USD per 1mo$/m);
  expect(await answer("organizations", "update", "acme", "--clear", "budget_id")).toMatchObject({
    budget_id: null,
    organization_alias: "Acme",
  });
  expect(await out("organizations", "block", "acme")).toBe("acme is blocked.\n");
  expect(await out("organizations", "list", "--search", "ac")).toMatch(/^acme +Acme +blocked$/m);
  expect(await out("organizations", "unblock", "acme")).toBe("acme works again.\n");
  await answer("keys", "create", "--team", "core", "--user", "ann");
  expect(await out("members", "remove", "core", "ann")).toBe(
    "ann has left core. 1 key is blocked.\n",
  );
  expect((await sluice("organizations", "delete", "acme")).error).toMatch(/"acme" is in use/);
  expect(await out("users", "delete", "ann")).toBe("ann is gone. 1 key is blocked.\n");
  expect(await out("customers", "delete", "c-1", "--organization", "acme")).toBe("c-1 is gone.\n");
  expect(await out("budgets", "delete", "monthly")).toBe("monthly is gone.\n");
});

it("show lists page by page", async () => {
  for (let index = 0; index < 101; index++) {
    const customer = { customer_id: `page-${String(index).padStart(3, "0")}` };
    expect((await admin(gateway, "/customer/new", customer)).status).toBe(200);
  }
  const first = await out("customers", "list", "--search", "page-");
  const cursor = /^more with --cursor (\S+)$/m.exec(first)?.[1] ?? "";
  expect(first).toMatch(/^page-099/m);
  expect(await out("customers", "list", "--search", "page-", "--cursor", cursor)).toMatch(
    /^ID[^\n]*\npage-100\n$/,
  );
});
