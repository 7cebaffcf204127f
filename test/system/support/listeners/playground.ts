/** The playground, the same for one process and for several workers. */

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { AdminAnswer } from "@sluice/admin-api";
import { createUpstream, type Upstream } from "@sluice/testing";
import { guardedWorkspace } from "../../guardrails/guardrails.fixture.ts";
import { admin, createKey, MESSAGES, rowsOf } from "../client.ts";
import { eventually } from "../eventually.ts";
import { type GatewayProcess, startGateway, startOwnProcess } from "../gateway-process.ts";

type Trace = AdminAnswer<"GET /requests/:id">;

const LONG = "word ".repeat(400).trim();

/** The tests with a number of workers. Call it in a `describe`. */
export function playgroundTests(workers: 1 | 2): void {
  const start = workers === 1 ? startGateway : startOwnProcess;
  let upstream: Upstream;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    upstream = await createUpstream();
    const workspace = guardedWorkspace({
      baseUrl: upstream.baseUrl,
      server: `workers: ${workers}`,
      attempts: 1,
      models: [
        "{ id: gpt-4o, targets: [{ provider: openai, model: gpt-4o }] }",
        "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
        "{ id: text-embedding-3-small, mode: embeddings, targets: [{ provider: openai, model: text-embedding-3-small }] }",
      ],
      guardrails: ["no-bad: { use: forbid, word: forbidden-word }"],
      step: "{ input: [no-bad], output: [no-bad] }",
      sections: ["keys:", '  - { alias: declared, key: "${env:DECLARED_KEY}", models: [gpt-4o] }'],
    });
    gateway = await start(workspace, { DECLARED_KEY: "sk-declared-0123456789abcdefghijklmn" });
  }, 120_000);
  beforeEach(() => upstream.reset());
  afterAll(async () => {
    await gateway?.dispose();
    await upstream?.close();
  });

  const play = (as: string, body: object, init: RequestInit & { readonly more?: object } = {}) => {
    const { more = {}, ...rest } = init;
    return fetch(`${gateway.adminUrl}/playground/chat`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.masterKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ as, body, ...more }),
      ...rest,
    });
  };
  const chatOf = (more: object = {}): object => ({
    model: "gpt-4o-mini",
    messages: MESSAGES,
    ...more,
  });
  const explained = async (id: string | null): Promise<Trace> => {
    await eventually(`the end of ${id}`, async () => {
      const response = await admin(gateway, `/requests?request_id=${id}`);
      const { requests } = (await response.json()) as AdminAnswer<"GET /requests">;
      return requests[0]?.request_id === id && requests.length === 1;
    });
    return (await (await admin(gateway, `/requests/${id}`)).json()) as Trace;
  };

  it("sends a request as a key, with its row, and nothing of the operator goes upstream", async () => {
    const { token_id: id, key } = await createKey(gateway, { tags: ["own"] });
    const response = await play(id, chatOf());
    const reply = (await response.json()) as { choices: { message: { content: string } }[] };
    expect([response.status, response.headers.get("x-sluice-played")]).toEqual([200, "chat"]);
    expect(reply.choices[0]?.message.content).toContain("quick brown fox");
    const requestId = response.headers.get("x-request-id");
    const [row] = await rowsOf(gateway, requestId);
    expect(row).toMatchObject({ status: "success", request_tags: ["own", "playground"] });
    expect(row?.spend).toBeGreaterThan(0);
    const trace = await explained(requestId);
    expect([trace.key?.id, trace.attempts.length]).toEqual([id, 1]);
    expect(trace.steps?.length).toBeGreaterThan(3);
    const sent = JSON.stringify(upstream.requests.map(({ headers, body }) => [headers, body]));
    for (const secret of [gateway.masterKey, key, "sluice-playground"])
      expect(sent.includes(secret)).toBe(false);
  });

  it("has the rights and the limits of the key", async () => {
    const { token_id: id } = await createKey(gateway, { models: ["gpt-4o"], rpm: 2 });
    expect((await play(id, chatOf())).status).toBe(404);
    const statuses: number[] = [];
    for (let index = 0; index < 4; index++)
      statuses.push((await play(id, chatOf({ model: "gpt-4o" }))).status);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(2);
    expect(statuses.at(-1)).toBe(429);
    expect((await play("yaml:declared", chatOf({ model: "gpt-4o" }))).status).toBe(200);
    expect((await play("yaml:declared", chatOf())).status).toBe(404);
    expect((await play("master", chatOf())).status).toBe(200);
    // What a client with a blocked key gets, and not a refusal of the operator.
    await admin(gateway, "/key/block", { key: id });
    const blocked = await play(id, chatOf({ model: "gpt-4o" }));
    expect([blocked.status, blocked.headers.get("x-sluice-played")]).toEqual([401, "chat"]);
  });

  it("refuses what it cannot send, and records each request without its texts", async () => {
    const { token_id: id } = await createKey(gateway, {});
    const statuses = await Promise.all([
      play("no-such-key", chatOf()),
      play(id, chatOf(), { more: { route: "POST /v1/embeddings" } }),
      play(id, chatOf(), { more: { what: 1 } }),
      admin(gateway, "/playground/chat", { as: id, body: "text" }),
      admin(gateway, "/playground/chat", { body: chatOf() }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 400, 400, 400, 400]);
    const secret = "a text of the operator";
    await (await play(id, chatOf({ messages: [{ role: "user", content: secret }] }))).text();
    const audit = await (await admin(gateway, "/audit?action=key.play&limit=100")).text();
    const { lines } = JSON.parse(audit) as {
      lines: readonly { object: string; outcome: string; after: object | null }[];
    };
    const own = lines.filter(({ object }) => object === `key:${id}`);
    expect(own.map(({ outcome }) => outcome)).toEqual(["done", "begun"]);
    expect(own[1]?.after).toMatchObject({ model: "gpt-4o-mini" });
    expect(audit.includes(secret)).toBe(false);
  });

  it("lists the routes, and sends embeddings", async () => {
    const { routes } = (await (
      await admin(gateway, "/playground")
    ).json()) as AdminAnswer<"GET /playground">;
    expect(routes.map(({ route }) => route)).toContain("POST /v1/chat/completions");
    expect(routes.every(({ steps, file }) => steps.includes("auth") && file !== "")).toBe(true);
    const body = { model: "text-embedding-3-small", input: "Hello" };
    const response = await admin(gateway, "/playground/embeddings", { as: "master", body });
    expect(response.status).toBe(200);
  });

  it("check 24: a stream that the client cuts stops, is explained, and its row has the cost", async () => {
    const { token_id: id } = await createKey(gateway, {});
    upstream.script({ kind: "reply", text: LONG, eventDelayMs: 20 });
    const controller = new AbortController();
    const response = await play(id, chatOf({ stream: true }), { signal: controller.signal });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort();
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ status: "partial", error_code: "client_closed" });
    expect(row?.spend).toBeGreaterThan(0);
    expect(row?.completion_tokens).toBeLessThan(400);
    const trace = await explained(response.headers.get("x-request-id"));
    expect([trace.error, trace.attempts[0]?.outcome]).toEqual(["client_closed", "partial"]);
    expect(trace.attempts[0]?.cost).toBeGreaterThan(0);
  });

  it("check 24: a stream that the upstream cuts ends, is explained, and its row has the cost", async () => {
    const { token_id: id } = await createKey(gateway, {});
    upstream.script({ kind: "reply", text: LONG, fault: { kind: "reset", after: 20 } });
    const response = await play(id, chatOf({ stream: true }));
    const text = await response.text();
    expect(text).toContain(`"error"`);
    expect(text.includes("[DONE]")).toBe(false);
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row?.status).toBe("partial");
    expect(row?.spend).toBeGreaterThan(0);
    const trace = await explained(response.headers.get("x-request-id"));
    expect(trace.attempts[0]?.outcome).toBe("partial");
  });

  it("check 24: a stream that a guardrail cuts ends, is explained, and its row has the cost", async () => {
    const { token_id: id } = await createKey(gateway, {});
    upstream.script({ kind: "reply", text: `${"good ".repeat(50)}forbidden-word ${LONG}` });
    const response = await play(id, chatOf({ stream: true }));
    const text = await response.text();
    expect([text.includes("forbidden-word"), text.includes("guardrail")]).toEqual([false, true]);
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row?.spend).toBeGreaterThan(0);
    const trace = await explained(response.headers.get("x-request-id"));
    expect(trace.steps?.flatMap(({ decisions }) => decisions).join(" ")).toContain("no-bad");
  });
}
