/**
 * `GET /metrics`: what is counted of requests, what is read of the process, and what never stands
 * on the page.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { ALL_METRICS } from "../../generate/metrics.ts";
import { admin, chat, createKey } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { type MetricsPage, readMetrics } from "../support/prometheus.ts";

const CANARY = "canary-3f9d1c";

let upstream: Upstream;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    attempts: 2,
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: falls, targets: [{ provider: openai, model: broken }], fallbacks: { general: [gpt-4o-mini] } }",
      '{ id: "openai/*", targets: [{ provider: openai, model: "*" }] }',
    ],
  });
  ({ key } = await createKey(gateway, { key_alias: `${CANARY}-alias`, rpm_limit: 100 }));
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function page(): Promise<MetricsPage> {
  const response = await admin(gateway, "/metrics");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return readMetrics(await response.text());
}

/**
 * The page, once `sluice_requests_total` has reached a number: requests are counted behind their
 * replies.
 */
function pageWith(
  requests: number,
  labels: Readonly<Record<string, string>>,
): Promise<MetricsPage> {
  return eventually(`${requests} requests on the page`, async () => {
    const found = await page();
    return (found.sum("sluice_requests_total", labels) ?? 0) >= requests && found;
  });
}

const ask = (body: object, token = key): Promise<Response> =>
  chat(
    gateway,
    { messages: [{ role: "user", content: `${CANARY}-prompt` }], ...body },
    { headers: { authorization: `Bearer ${token}` } },
  );

describe("metrics", () => {
  it("are for the master key alone", async () => {
    expect((await admin(gateway, "/metrics", undefined, key)).status).toBe(403);
  });

  it("share the listener with a restart, which a single process cannot do", async () => {
    const refused = await admin(gateway, "/restart", {});
    expect(refused.status).toBe(404);
    expect(await refused.text()).toContain("server.workers");
  });

  it("count whole and streamed requests, their calls, tokens and money", async () => {
    const model = "gpt-4o-mini";
    await (await ask({ model })).text();
    await (await ask({ model, stream: true })).text();
    const found = await pageWith(2, { model });
    const route = "POST /v1/chat/completions";
    expect(found.sum("sluice_requests_total", { model, route, status: "200" })).toBe(2);
    expect(
      found.sum("gen_ai_server_request_duration_seconds_count", { gen_ai_request_model: model }),
    ).toBe(2);
    expect(
      found.sum("gen_ai_server_request_duration_seconds_bucket", {
        gen_ai_request_model: model,
        le: "+Inf",
      }),
    ).toBe(2);
    expect(
      found.sum("gen_ai_server_time_to_first_token_seconds_count", { gen_ai_request_model: model }),
    ).toBeGreaterThan(0);
    const deployment = "openai/gpt-4o-mini";
    expect(
      found.sum("sluice_attempts_total", { deployment, outcome: "success", code: "none" }),
    ).toBe(2);
    expect(
      found.sum("sluice_tokens_total", { deployment, type: "input", source: "provider" }),
    ).toBeGreaterThan(0);
    expect(
      found.sum("gen_ai_client_token_usage_count", { deployment, gen_ai_token_type: "output" }),
    ).toBe(2);
    expect(found.sum("sluice_cost_nano_usd_total", { deployment, model })).toBeGreaterThan(0);
    expect(found.sum("sluice_deployment_breaker", { deployment })).toBe(0);
    expect(found.types.get("sluice_cost_nano_usd_total")).toBe("counter");
  });

  it("tell retries and fallbacks, and what clients were refused for", async () => {
    upstream.script("broken", { kind: "error", status: 500 });
    await (await ask({ model: "falls" })).text();
    await (await ask({ model: "gpt-4o-mini" }, "sk-unknown-key-of-a-metrics-test-0000")).text();
    await fetch(`${gateway.publicUrl}/nowhere-${CANARY}`);
    const found = await pageWith(1, { route: "none", status: "404" });
    expect(
      found.sum("sluice_attempts_total", { deployment: "openai/broken", outcome: "failure" }),
    ).toBe(2);
    expect(
      found.sum("sluice_extra_attempts_total", { kind: "retry", deployment: "openai/broken" }),
    ).toBe(1);
    expect(
      found.sum("sluice_extra_attempts_total", {
        kind: "fallback",
        deployment: "openai/gpt-4o-mini",
      }),
    ).toBe(1);
    expect(found.sum("sluice_request_failures_total", { code: "authentication_failed" })).toBe(1);
    expect(
      found.sum("sluice_request_failures_total", { route: "none", code: "route_not_found" }),
    ).toBe(1);
  });

  it("tell which kind of limit refused", async () => {
    const { key: narrow } = await createKey(gateway, { rpm_limit: 1 });
    await (await ask({ model: "gpt-4o-mini" }, narrow)).text();
    expect((await ask({ model: "gpt-4o-mini" }, narrow)).status).toBe(429);
    const found = await pageWith(1, { status: "429" });
    expect(found.sum("sluice_limits_refusals_total", { kind: "requests" })).toBe(1);
    expect(found.sum("sluice_request_failures_total", { code: "rate_limited" })).toBe(1);
  });

  it("hold nothing that a client wrote, no key and no secret", async () => {
    await (
      await ask({
        model: `openai/${CANARY}-model`,
        user: `${CANARY}-user`,
        metadata: { tags: [`${CANARY}-tag`] },
      })
    ).text();
    await (await ask({ model: `${CANARY}-unknown` })).text();
    await (
      await fetch(`${gateway.publicUrl}/openai/v1/${CANARY}/path`, {
        headers: { authorization: `Bearer ${key}` },
      })
    ).text();
    const found = await pageWith(1, { model: "openai/*" });
    expect(found.sum("sluice_attempts_total", { deployment: "openai/*" })).toBeGreaterThan(0);
    const text = await (await admin(gateway, "/metrics")).text();
    for (const secret of [CANARY, key, key.slice(3), gateway.masterKey, UPSTREAM_KEY])
      expect(text).not.toContain(secret);
  });

  it("say how the configuration, the ledger and the process are, and stand in docs/metrics.md, all of them", async () => {
    const found = await eventually("the store to have all rows", async () => {
      const now = await page();
      return now.sum("sluice_ledger_lag_seconds") === 0 && now;
    });
    expect(found.sum("sluice_generation")).toBe(1);
    expect(found.sum("sluice_config_info", { origin: "start" })).toBe(1);
    expect(found.sum("sluice_config_applies_total", { outcome: "applied" })).toBe(1);
    expect(found.sum("sluice_config_drift_files")).toBe(0);
    expect(found.sum("sluice_outbox_batches")).toBe(0);
    expect(found.sum("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
    expect(
      found.sum("sluice_event_loop_delay_seconds", { quantile: "0.99" }),
    ).toBeGreaterThanOrEqual(0);
    const described = new Set(ALL_METRICS.map(({ name }) => name));
    expect([...found.types.keys()].filter((name) => !described.has(name))).toEqual([]);
  });
});
