/** A gateway whose PostgreSQL goes away: known keys are served, and changes are not lost. */

import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresCluster, startCluster } from "../../soak/support/postgres-cluster.ts";
import { admin, chat, createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { isServerThere } from "../support/postgres.ts";
import { createWorkspace } from "../support/workspace.ts";

let upstream: Upstream;
let cluster: PostgresCluster;
const gateways: GatewayProcess[] = [];

async function gatewayWith(postgres: string, database: string): Promise<GatewayProcess> {
  await cluster.query(`create database ${database}`);
  const environment = { DATABASE_URL: cluster.url(database), OPENAI_API_KEY: "sk-upstream" };
  const workspace = createWorkspace({ baseUrl: upstream.baseUrl, postgres });
  const gateway = await startGateway(workspace, environment);
  gateways.push(gateway);
  return gateway;
}

const ask = async (gateway: GatewayProcess, key: string): Promise<Response> => {
  const headers = { authorization: `Bearer ${key}` };
  const response = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES }, { headers });
  await response.text();
  return response;
};
const statusOf = async (gateway: GatewayProcess, key: string): Promise<number> =>
  (await ask(gateway, key)).status;
const ready = async (gateway: GatewayProcess): Promise<number> =>
  (await fetch(`${gateway.publicUrl}/health/ready`)).status;

async function storeOf(gateway: GatewayProcess): Promise<Record<string, unknown>> {
  const response = await admin(gateway, "/config/status");
  return ((await response.json()) as { readonly store: Record<string, unknown> }).store;
}

describe.skipIf(!isServerThere)("a gateway whose PostgreSQL goes away", () => {
  beforeAll(async () => {
    upstream = await createUpstream();
    cluster = await startCluster({ fsync: "off" });
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.dispose();
    await cluster?.remove();
    await upstream?.close();
  });

  it("serves known keys meanwhile, refuses others with 503, and has every row afterwards", async () => {
    const gateway = await gatewayWith("", "known");
    const known = await createKey(gateway, {});
    const other = await createKey(gateway, {});
    expect(await statusOf(gateway, known.key)).toBe(200);
    await cluster.stop();
    await eventually("the outage", async () => (await storeOf(gateway))["away"] === true);
    const replies = [];
    for (let index = 0; index < 5; index++) replies.push(await ask(gateway, known.key));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const refused = await ask(gateway, other.key);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await statusOf(gateway, "sk-never-seen")).toBe(503);
    const blocking = await admin(gateway, "/key/block", { key: other.token_id });
    expect([blocking.status, blocking.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await admin(gateway, "/spend/report")).status).toBe(503);
    expect((await admin(gateway, "/key/list")).status).toBe(503);
    expect(await ready(gateway)).toBe(200);
    expect(await storeOf(gateway)).toMatchObject({ away: true, serves: "known" });
    const metrics = await (await admin(gateway, "/metrics")).text();
    expect(metrics).toMatch(/^sluice_store_away 1$/m);
    await cluster.start();
    await cluster.query(
      `update virtual_key set blocked = 1 where id = '${known.token_id}'`,
      "known",
    );
    await eventually(
      "the change that was made meanwhile",
      async () => (await statusOf(gateway, known.key)) === 401,
    );
    expect(await statusOf(gateway, other.key)).toBe(200);
    for (const { headers } of replies)
      await eventually("the row", async () => {
        const rows = await rowsOf(gateway, headers.get("x-request-id"));
        return rows.length === 1;
      });
    expect(await storeOf(gateway)).toMatchObject({ away: false, serves: "all" });
  });

  it("serves no key where the operator says so, or for longer than the maximum", async () => {
    const strict = await gatewayWith("on_store_down: refuse", "strict");
    const short = await gatewayWith("max_staleness: 3s", "short");
    const keys = [await createKey(strict, {}), await createKey(short, {})];
    expect(await statusOf(strict, keys[0]?.key ?? "")).toBe(200);
    expect(await statusOf(short, keys[1]?.key ?? "")).toBe(200);
    await cluster.stop("immediate");
    await eventually(
      "the refusal",
      async () => (await statusOf(strict, keys[0]?.key ?? "")) === 503,
    );
    expect(await ready(strict)).toBe(503);
    expect(await storeOf(strict)).toMatchObject({ away: true, serves: "none" });
    await eventually("the end of the time", async () => {
      const status = await statusOf(short, keys[1]?.key ?? "");
      return status === 503;
    });
    await cluster.start();
    for (const [index, gateway] of [strict, short].entries()) {
      await eventually("the recovery", async () => (await ready(gateway)) === 200);
      expect(await statusOf(gateway, keys[index]?.key ?? "")).toBe(200);
    }
  });
});
