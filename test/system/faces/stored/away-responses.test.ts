/**
 * Stored responses while the Redis that has them is away: the gateway cannot say what is there, so
 * it says neither that a response does not exist nor that it was deleted.
 */

import { randomUUID } from "node:crypto";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Proxy, startProxy } from "../../../../plugins/shared-redis/src/proxy.fixture.ts";
import { adminCommand, redisAnswers } from "../../../../plugins/shared-redis/src/redis.fixture.ts";
import { createKey } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";
import { createWorkspace } from "../../support/workspace.ts";

const PREFIX = `{sluice-away-${randomUUID()}}:`;

let upstream: Upstream;
let proxy: Proxy;
let gateway: GatewayProcess;

describe.skipIf(!(await redisAnswers()))("stored responses while Redis is away", () => {
  beforeAll(async () => {
    upstream = await createUpstream();
    proxy = await startProxy();
    const shared = `shared: { use: redis, url: "${proxy.url}", prefix: "${PREFIX}", instances: 2, command_timeout: 2s }`;
    gateway = await startGateway(
      createWorkspace({ baseUrl: upstream.baseUrl, sections: [shared] }),
    );
  });
  afterAll(async () => {
    await gateway?.dispose();
    await proxy?.close();
    await upstream?.close();
    const keys = (await adminCommand("KEYS", `${PREFIX}*`)) as readonly string[];
    if (keys.length > 0) await adminCommand("DEL", ...keys);
  });

  it("are neither gone nor deleted, and are there when it is back", async () => {
    const { key } = await createKey(gateway, {});
    const call = async (method: string, path: string, body?: object): Promise<Response> => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const url = `${gateway.publicUrl}/v1/responses${path}`;
      return fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    };
    const ask = { model: "gpt-4o-mini", input: "Hello" };
    const made = await call("POST", "", ask);
    const { id } = (await made.json()) as { readonly id: string };
    expect((await call("GET", `/${id}`)).status).toBe(200);
    proxy.die();
    const refused = [
      await call("GET", `/${id}`),
      await call("POST", "", { ...ask, previous_response_id: id }),
      await call("DELETE", `/${id}`),
      await call("GET", `/${id}/input_items`),
    ];
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    expect(refused.map(({ headers }) => headers.get("retry-after"))).toEqual(["1", "1", "1", "1"]);
    // One that is not stored needs no shared state.
    expect((await call("POST", "", { ...ask, store: false })).status).toBe(200);
    proxy.mend();
    await eventually("the response", async () => (await call("GET", `/${id}`)).status === 200);
    const next = await call("POST", "", { ...ask, previous_response_id: id });
    expect(next.status).toBe(200);
    expect((await call("DELETE", `/${id}`)).status).toBe(200);
    expect((await call("GET", `/${id}`)).status).toBe(404);
  });
});
