/** `errors: litellm`, and the routes that would write what files hold. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    plugins: ["@sluice/compat-litellm"],
    sections: ["extensions:\n  litellm: { errors: litellm, administration: public }"],
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const BODY = { model: "gpt-4o-mini", messages: MESSAGES };

async function send(path: string, body: object | undefined, key: string, method?: string) {
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown, response };
}

describe("errors of LiteLLM", () => {
  it.each(["/v1/chat/completions", "/chat/completions", "/embeddings"])(
    "have its statuses and codes as text: %s",
    async (path) => {
      const unknown = await send(path, BODY, "sk-unknown");
      expect(unknown).toMatchObject({
        status: 401,
        body: { error: { type: "auth_error", code: "401" } },
      });
      const noModel = await send(
        path,
        { ...BODY, input: "a", model: "nothere" },
        gateway.masterKey,
      );
      expect(noModel).toMatchObject({
        status: 400,
        body: { error: { type: "invalid_request_error", code: "400" } },
      });
    },
  );

  it("stop an SDK from trying a spent budget again", async () => {
    const { key } = await createKey(gateway, { max_budget: 0 });
    expect(await send("/v1/chat/completions", BODY, key)).toMatchObject({
      status: 422,
      body: { error: { type: "budget_exceeded", code: "422" } },
    });
  });

  it("keep a limit's status and its retry-after", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 1 });
    await send("/v1/chat/completions", BODY, key);
    const refused = await send("/v1/chat/completions", BODY, key);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "429" } } });
    expect(refused.response.headers.get("retry-after")).toMatch(/^\d+$/);
  });

  it("have names as codes elsewhere, as server.error_code: text has them", async () => {
    expect(await send("/nothere", {}, gateway.masterKey)).toMatchObject({
      status: 404,
      body: { error: { code: "route_not_found" } },
    });
  });

  it("are those of the client's own dialect on its routes", async () => {
    const { body, status } = await send(
      "/v1/messages",
      { model: "nothere", max_tokens: 1, messages: MESSAGES },
      gateway.masterKey,
    );
    expect({ body, status }).toMatchObject({ status: 404, body: { type: "error" } });
  });
});

describe("routes that would write what files hold", () => {
  it.each([
    ["POST", "/model/new", "section `models`"],
    ["POST", "/model/delete", "section `models`"],
    ["PATCH", "/model/a/b/update", "section `models`"],
    ["POST", "/credentials", "section `providers`"],
    ["POST", "/fallback", "`fallbacks`"],
    ["POST", "/config/update", "gateway.yaml"],
    ["PUT", "/guardrails/g-1", "section `guardrails`"],
    ["POST", "/v1/mcp/server", "MCP servers"],
    ["DELETE", "/project/delete", "projects"],
    ["POST", "/global/spend/reset", "never changed"],
  ])("answer 501 on both listeners: %s %s", async (method, path, says) => {
    const open = await send(path, method === "DELETE" ? undefined : {}, gateway.masterKey, method);
    expect(open).toMatchObject({ status: 501, body: { error: { code: 501 } } });
    expect(JSON.stringify(open.body)).toContain(says);
    const own = await fetch(`${gateway.adminUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${gateway.masterKey}` },
    });
    expect(own.status).toBe(501);
    expect((await send(path, {}, "sk-unknown", method)).status).toBe(401);
  });

  it("leave the gateway's own routes as they are", async () => {
    expect((await admin(gateway, "/config/status")).status).toBe(200);
    expect((await admin(gateway, "/key/list")).status).toBe(200);
  });
});
