/**
 * A gateway's life: health, the end that lets work finish, two listeners with nothing in common,
 * keys.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import {
  admin,
  chat,
  createKey,
  MESSAGES,
  openaiClient,
  rowsOf,
  spendRows,
} from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe("health", () => {
  it.each(["/health/live", "/health/ready"])(
    "answers %s without a key, with the status alone",
    async (path) => {
      const response = await fetch(`${gateway.publicUrl}${path}`);
      expect([response.status, await response.text()]).toEqual([200, '{"status":"ok"}']);
      expect((await fetch(`${gateway.publicUrl}${path}`, { method: "HEAD" })).status).toBe(200);
      const posted = await fetch(`${gateway.publicUrl}${path}`, { method: "POST" });
      expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    },
  );
});

describe("SIGTERM", () => {
  it("lets a stream finish, admits no client, keeps the row and ends with 0", async () => {
    // A busy machine is no fault of the gateway's: its log stays empty here.
    const workspace = createWorkspace({ baseUrl: upstream.baseUrl, server: "block_warning: 0s" });
    let leaving = await startGateway(workspace);
    try {
      upstream.script("gpt-4o", { kind: "reply", text: "word ".repeat(60), eventDelayMs: 30 });
      const response = await chat(leaving, { model: "gpt-4o", messages: MESSAGES, stream: true });
      const stopped = leaving.stop();
      await eventually("new calls to be refused", () =>
        fetch(`${leaving.publicUrl}/v1/models`, { headers: { connection: "close" } }).then(
          ({ status }) => status === 503,
        ),
      );
      expect(upstream.requests.at(-1)?.finished).toBe(false);
      const text = await response.text();
      expect(text.match(/"content":"word "/g)).toHaveLength(60);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
      expect(await stopped).toEqual({ code: 0, signal: null });
      expect(leaving.stderr).toBe("");

      leaving = await startGateway(workspace);
      expect(
        await spendRows(leaving, { request_id: response.headers.get("x-request-id") ?? "" }),
      ).toMatchObject([{ status: "success", completion_tokens: 60 }]);
    } finally {
      await leaving.dispose();
    }
  });

  it("ends what outlives the drain timeout, with an error event and a partial row", async () => {
    const workspace = createWorkspace({
      baseUrl: upstream.baseUrl,
      server: "drain_timeout: 200ms",
    });
    let leaving = await startGateway(workspace);
    try {
      upstream.script("gpt-4o", { kind: "reply", fault: { kind: "hang", after: 3 } });
      const response = await chat(leaving, { model: "gpt-4o", messages: MESSAGES, stream: true });
      const stopped = leaving.stop();
      const text = await response.text();
      expect(text).toMatch(
        /data: \{"error":\{"message":"[^"]+","type":"overloaded_error","code":503,"param":null\}\}\n\n$/,
      );
      expect(text).not.toContain("[DONE]");
      expect(await stopped).toEqual({ code: 0, signal: null });
      leaving = await startGateway(workspace);
      expect(await rowsOf(leaving, response.headers.get("x-request-id"))).toMatchObject([
        { status: "partial", error_code: "overloaded" },
      ]);
    } finally {
      await leaving.dispose();
    }
  });
});

describe("the two listeners", () => {
  const get = (base: string, path: string, method = "GET") =>
    fetch(`${base}${path}`, { method, headers: { authorization: `Bearer ${gateway.masterKey}` } });

  it("share no route", async () => {
    for (const [method, path] of [
      ["GET", "/config/status"],
      ["POST", "/key/block"],
      ["GET", "/key/list"],
    ] as const) {
      expect((await get(gateway.publicUrl, path, method)).status).toBe(404);
      expect((await get(gateway.adminUrl, path, method)).status).not.toBe(404);
    }
    for (const path of [
      "/v1/chat/completions",
      "/v1/models",
      "/spend/logs",
      "/health/live",
      "/health/ready",
    ]) {
      expect((await get(gateway.adminUrl, path)).status).toBe(404);
      expect((await get(gateway.publicUrl, path)).status).not.toBe(404);
    }
  });

  it("are opened by different keys: administration takes the master key alone", async () => {
    const { key } = await createKey(gateway, {});
    expect((await admin(gateway, "/config/status", undefined, key)).status).toBe(403);
    expect((await admin(gateway, "/config/status", undefined, "sk-unknown")).status).toBe(401);
    expect((await fetch(`${gateway.adminUrl}/config/status`)).status).toBe(401);
  });
});

describe("a virtual key", () => {
  it("is shown once; afterwards its id and last four characters stand for it", async () => {
    const made = await createKey(gateway, {
      key_alias: "ci",
      models: ["gpt-4o"],
      tags: ["ci"],
      user_id: "u-1",
      duration: "1h",
    });
    expect(made.key).toMatch(/^sk-[\w-]{43}$/);
    for (const asked of [made.key, made.token_id]) {
      const text = await (await admin(gateway, `/key/info?key=${asked}`)).text();
      expect(text).not.toContain(made.key);
      expect(JSON.parse(text)).toMatchObject({
        key: made.token_id,
        info: {
          key_alias: "ci",
          models: ["gpt-4o"],
          tags: ["ci"],
          user_id: "u-1",
          blocked: false,
          key_name: `sk-...${made.key.slice(-4)}`,
        },
      });
    }
    expect((await admin(gateway, "/key/info?key=sk-unknown")).status).toBe(404);
    const wrong = await admin(gateway, "/key/generate", { model: "gpt-4o" });
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      { error: { param: "model", code: 400 } },
    ]);
  });

  it("sees and uses its own models, by id and by access group, and no others", async () => {
    const { key, token_id } = await createKey(gateway, { models: ["echo", "large"] });
    const client = openaiClient(gateway, { apiKey: key });
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["gpt-4o", "echo"]);
    const { response } = await client.chat.completions
      .create({ model: "echo", messages: MESSAGES })
      .withResponse();
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      { api_key: token_id, model: "echo" },
    ]);
    for (const model of ["gpt-4o-mini", "openai/gpt-4o", "large"]) {
      await expect(
        client.chat.completions.create({ model, messages: MESSAGES }),
      ).rejects.toMatchObject({ status: 404 });
    }
  });

  it("reads its own rows and no others", async () => {
    const [mine, other] = [await createKey(gateway, {}), await createKey(gateway, {})];
    for (const { key } of [mine, other])
      await chat(
        gateway,
        { model: "echo", messages: MESSAGES },
        { headers: { authorization: `Bearer ${key}` } },
      );
    const read = (query: string) =>
      fetch(`${gateway.publicUrl}/spend/logs${query}`, {
        headers: { authorization: `Bearer ${mine.key}` },
      });
    expect(await (await read("")).json()).toMatchObject([{ api_key: mine.token_id }]);
    expect((await read(`?api_key=${other.token_id}`)).status).toBe(403);
    expect((await read("?since=yesterday")).status).toBe(400);
  });

  it("works after a restart", async () => {
    const workspace = createWorkspace();
    let running = await startGateway(workspace);
    try {
      const { key } = await createKey(running, {});
      await running.kill();
      running = await startGateway(workspace);
      const response = await chat(
        running,
        { model: "echo", messages: MESSAGES },
        { headers: { authorization: `Bearer ${key}` } },
      );
      expect(response.status).toBe(200);
    } finally {
      await running.dispose();
    }
  });
});
