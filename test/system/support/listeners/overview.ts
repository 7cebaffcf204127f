/** The overview and the deployments, the same for one process and for several workers. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AdminAnswer } from "@sluice/admin-api";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, configPost, createKey, MESSAGES } from "../client.ts";
import { eventually } from "../eventually.ts";
import { type GatewayProcess, startGateway, startOwnProcess } from "../gateway-process.ts";
import { readMetrics } from "../prometheus.ts";
import { createWorkspace } from "../workspace.ts";

type Overview = AdminAnswer<"GET /overview">;

/** The tests with a number of workers. Call it in a `describe`. */
export function overviewTests(workers: 1 | 2): void {
  const start = workers === 1 ? startGateway : startOwnProcess;
  let upstream: Upstream;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    upstream = await createUpstream();
    const workspace = createWorkspace({
      baseUrl: upstream.baseUrl,
      server: `workers: ${workers}`,
      providers: [
        `second: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }`,
      ],
      models: [
        "{ id: echo, targets: [{ provider: echo, model: echo }] }",
        "{ id: pair, targets: [{ provider: openai, model: one }, { provider: second, model: two }] }",
        "{ id: broken, targets: [{ provider: openai, model: broken }] }",
      ],
      attempts: 1,
    });
    const prices = join(workspace.folder, "config/prices.yaml");
    const priced = "echo/*: { input: 1000, output: 1000 }";
    writeFileSync(prices, readFileSync(prices, "utf8").replace("echo/*: { free: true }", priced));
    gateway = await start(workspace);
  }, 120_000);
  afterAll(async () => {
    await gateway?.dispose();
    await upstream?.close();
  });

  const read = async <T>(path: string): Promise<T> => {
    const response = await admin(gateway, path);
    const text = await response.text();
    expect([path, response.status, text.length <= 64 * 1_024]).toEqual([path, 200, true]);
    return JSON.parse(text) as T;
  };
  const ask = async (model: string, key = gateway.masterKey): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    const body = { model, messages: MESSAGES, max_tokens: 5 };
    const response = await chat(gateway, body, { headers });
    await response.text();
    return response.status;
  };
  const post = async (path: string, body: object = {}) => {
    const response = await admin(gateway, path, body);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const calledModels = (): ReadonlySet<string> =>
    new Set(
      upstream.requests.map(({ body }) => (JSON.parse(body) as { readonly model: string }).model),
    );
  const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

  it("check 14: counts what the metrics count, by whose fault, in at most 64 KB", async () => {
    upstream.script("broken", { kind: "error", status: 500 });
    for (let index = 0; index < 4; index++) expect(await ask("echo")).toBe(200);
    expect(await ask("unknown-model")).toBe(404);
    expect(await ask("broken")).toBeGreaterThanOrEqual(500);
    const before = await read<Overview>("/overview?window=24h");
    const metrics = readMetrics(await (await admin(gateway, "/metrics")).text());
    expect(sum(before.series.requests)).toBe(metrics.sum("sluice_requests_total"));
    expect(sum(before.series.client_errors)).toBe(1);
    expect(sum(before.series.upstream_errors)).toBe(1);
    expect(sum(before.series.gateway_errors)).toBe(0);
    expect(sum(before.series.cost)).toBeCloseTo(
      (metrics.sum("sluice_cost_nano_usd_total") ?? 0) / 1e9,
      9,
    );
    expect(before.series.requests.length).toBe(360);
    expect(before.series.overhead_p95_ms.some((ms) => ms !== null && ms > 0)).toBe(true);
    expect(before.now.requests_per_second).toBeGreaterThan(0);
    expect(before.marks.map(({ generation }) => generation)).toEqual([before.generation]);
    const quarter = await read<Overview>("/overview?window=15m");
    expect([quarter.step_s, quarter.series.requests.length]).toEqual([10, 90]);
    expect((await admin(gateway, "/overview?window=1y")).status).toBe(400);
  });

  it("shows the failures of a deployment, and the requests that had them", async () => {
    upstream.script("broken", { kind: "error", status: 500 });
    expect(await ask("broken")).toBeGreaterThanOrEqual(500);
    const id = encodeURIComponent("openai/broken");
    const page = await read<AdminAnswer<"GET /deployments/*id">>(`/deployments/${id}`);
    const failed = page.events.filter(({ kind }) => kind === "failed");
    expect(failed[0]).toMatchObject({
      model: "broken",
      operation: "chat",
      code: "upstream_failed",
    });
    expect(sum(page.minutes.map(({ failure }) => failure))).toBe(page.attempts.failure);
    const trace = await read<AdminAnswer<"GET /requests/:id">>(
      `/requests/${failed[0]?.request_id}`,
    );
    expect(trace.attempts[0]?.error).toBe("upstream_failed");
    const { deployments } = await read<Overview>("/overview");
    expect(deployments.worst[0]).toMatchObject({ deployment: "openai/broken", success: 0 });
    expect((await admin(gateway, "/deployments/none%2Fnone")).status).toBe(404);
  });

  it("sends no request to a held deployment, until it is released", async () => {
    upstream.reset();
    const id = encodeURIComponent("openai/one");
    const held = await post(`/deployments/${id}/hold`);
    const minutes = (Date.parse(String(held.body["held_until"])) - Date.now()) / 60_000;
    expect([held.status, Math.round(minutes)]).toEqual([200, 30]);
    // Each worker has to know of it, and a generation that an edit makes.
    await configPost(gateway, "reload", {});
    for (let index = 0; index < 12; index++) expect(await ask("pair")).toBe(200);
    expect(calledModels()).toEqual(new Set(["two"]));
    const { attention } = await read<Overview>("/overview");
    expect(attention.map(({ key }) => key)).toContain("held:openai/one");
    const page = await read<AdminAnswer<"GET /deployments/*id">>(`/deployments/${id}`);
    expect([page.held_until !== null, page.events[0]?.kind]).toEqual([true, "held"]);
    await post(`/deployments/${encodeURIComponent("second/two")}/hold`, { for: "1h" });
    expect(await ask("pair")).toBe(503);
    await post(`/deployments/${id}/release`);
    await post(`/deployments/${encodeURIComponent("second/two")}/release`);
    upstream.reset();
    await eventually("both targets to be called", async () => {
      expect(await ask("pair")).toBe(200);
      return calledModels().size === 2 ? true : undefined;
    });
    const { lines } = await read<{ lines: readonly { action: string; outcome: string }[] }>(
      "/audit?action=deployment.hold&limit=20",
    );
    // Two lines of each attempt, from one worker alone.
    expect(lines.length).toBe(8);
  });

  it("refuses a hold without an end, or of an unknown deployment", async () => {
    const id = encodeURIComponent("openai/one");
    for (const span of ["0s", "2d", "soon"])
      expect((await post(`/deployments/${id}/hold`, { for: span })).status).toBe(400);
    expect((await post("/deployments/none%2Fnone/hold")).status).toBe(404);
  });

  it("names budgets of which four fifths are used", async () => {
    const { key, token_id: id } = await createKey(gateway, {
      max_budget: 0.2,
      budget_duration: "1d",
    });
    await eventually("the budget to be nearly spent", async () =>
      (await ask("echo", key)) === 200 ? undefined : true,
    );
    const { budgets } = await read<Overview>("/overview");
    const own = budgets.nearest.find((budget) => budget.key_id === id);
    expect(own).toMatchObject({ subject: "key", max_budget: 0.2 });
    expect(own?.part).toBeGreaterThanOrEqual(0.8);
    expect(budgets.total).toBe(budgets.nearest.length);
  });
}
