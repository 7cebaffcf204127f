/**
 * The admin listener, the same for one process and for several workers: which paths and methods
 * exist, `server.admin.read_key`, which reads metrics and status and changes nothing, and
 * `server.key_defaults`, the limits of new keys.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type GatewayProcess,
  MASTER_KEY,
  startGateway,
  startOwnProcess,
} from "../gateway-process.ts";
import { sendRaw } from "../raw-client.ts";

/** `server.admin.read_key` of the tests. */
export const READ_KEY = "read-key-of-the-system-tests-0123456789";
const DEFAULTS = "{ max_budget: 2.5, budget_duration: 1d, rpm: 60, max_parallel_requests: 4 }";

/** The tests with a number of workers. Call it in a `describe`. */
export function adminListenerTests(workers: 1 | 2): void {
  const start = workers === 1 ? startGateway : startOwnProcess;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    const server = `workers: ${workers}, admin: { read_key: "\${env:READ_KEY}" }, key_defaults: ${DEFAULTS}`;
    gateway = await start({ server }, { READ_KEY });
  });
  afterAll(() => gateway?.dispose());

  const ask = async (call: string, key = READ_KEY, url = gateway.adminUrl) => {
    const [method = "", path = ""] = call.split(" ");
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(method === "POST" && { body: "{}" }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  it.each(["GET /metrics", "GET /config/status", "GET /deployments"])(
    "%s is read with it (F18)",
    async (call) => {
      expect((await ask(call)).status).toBe(200);
      expect((await ask(call, MASTER_KEY)).status).toBe(200);
      expect((await ask(call, `${READ_KEY}x`)).status).toBe(401);
    },
  );

  it.each([
    "GET /config/history",
    "GET /config/files",
    "GET /key/list",
    "GET /key/info?key=x",
    "GET /team/list",
    "GET /requests/x",
    "GET /nothing",
    "POST /metrics",
    "POST /config/reload",
    "POST /config/rollback",
    "POST /config/canary/promote",
    "POST /key/generate",
    "POST /restart",
    "PUT /config/status",
  ])("%s is not", async (call) => {
    const { status, text } = await ask(call);
    expect([call, [401, 403]]).toEqual([call, expect.arrayContaining([status])]);
    expect(text).not.toContain(READ_KEY);
  });

  it("opens no other route by a method or a spelling of the path", async () => {
    const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    const spellings = [
      "/key/list",
      "/%6bey/list",
      "//key/list",
      "/KEY/LIST",
      "/key/list/",
      "/key/list;a=b",
      "/key/list%00",
    ];
    const through = [
      "/metrics/../key/list",
      "/metrics/%2e%2e/key/list",
      "/metrics%2f..%2fkey/list",
      "/metrics/",
      "/Metrics",
      "/%6detrics",
    ];
    const headers = ["host: localhost", "connection: close", `authorization: Bearer ${READ_KEY}`];
    const opened: string[] = [];
    for (const method of methods) {
      for (const path of [...spellings, ...through, "/config/files", "/requests", "/restart"]) {
        const { status } = await sendRaw(gateway.adminUrl, [
          `${method} ${path} HTTP/1.1`,
          ...headers,
        ]);
        if (status < 400) opened.push(`${method} ${path}`);
      }
    }
    expect(opened).toEqual([]);
    // Of two keys the first header counts.
    const both = [`GET /key/list HTTP/1.1`, ...headers, `x-api-key: ${MASTER_KEY}`];
    expect((await sendRaw(gateway.adminUrl, both)).status).toBe(403);
  });

  it("no answer is guessed to be of another type (contract 1.13)", async () => {
    const head = ["host: localhost", "connection: close", `authorization: Bearer ${MASTER_KEY}`];
    for (const [line, more = head] of [
      ["GET /config/status"],
      ["GET /metrics"],
      ["GET /nothing"],
      ["PUT /metrics"],
      ["GET /metrics", head.slice(0, 2)],
      ["GET /metrics", ["host: x", ...head.slice(1)]],
      ["GET /key/list", [...head, `x-long: ${"a".repeat(20_000)}`]],
      ["GET /key/list", ["connection: close", "x y"]],
    ] as const) {
      const { headers, status } = await sendRaw(gateway.adminUrl, [`${line} HTTP/1.1`, ...more]);
      expect([line, status, headers["x-content-type-options"]]).toEqual([line, status, "nosniff"]);
    }
  });

  it("opens nothing on the public listener", async () => {
    expect((await ask("GET /v1/models", READ_KEY, gateway.publicUrl)).status).toBe(401);
    expect((await ask("GET /spend/logs", READ_KEY, gateway.publicUrl)).status).toBe(401);
  });

  it("stands in no answer", async () => {
    for (const call of [
      "GET /config/status",
      "GET /config/files",
      "GET /config/history",
      "GET /metrics",
    ])
      expect((await ask(call, MASTER_KEY)).text).not.toContain(READ_KEY);
    expect(gateway.stdout + gateway.stderr).not.toContain(READ_KEY);
  });

  it("server.key_defaults are the limits of new keys that name none (F19)", async () => {
    const made = async (fields: object) => {
      const answer = await fetch(`${gateway.adminUrl}/key/generate`, {
        method: "POST",
        headers: { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" },
        body: JSON.stringify(fields),
      });
      const { max_budget, budget_duration, rpm_limit, tpm_limit, max_parallel_requests } =
        (await answer.json()) as Record<string, unknown>;
      return [max_budget, budget_duration, rpm_limit, tpm_limit, max_parallel_requests];
    };
    expect(await made({})).toEqual([2.5, "1d", 60, null, 4]);
    expect(await made({ max_budget: null, rpm: 5 })).toEqual([null, null, 5, null, 4]);
    expect(await made({ max_budget: 9 })).toEqual([9, null, 60, null, 4]);
  });

  describe("the routes", () => {
    const ask = (method: string, path: string, key = MASTER_KEY) =>
      fetch(`${gateway.adminUrl}${path}`, { method, headers: { authorization: `Bearer ${key}` } });

    it.each(["/metrics", "/config/status", "/deployments"])(
      "HEAD %s is the GET without its body, for both keys",
      async (path) => {
        const [get, ...heads] = await Promise.all([
          ask("GET", path),
          ask("HEAD", path),
          ask("HEAD", path, READ_KEY),
        ]);
        for (const head of heads) {
          expect([head.status, head.headers.get("content-type")]).toEqual([
            200,
            get.headers.get("content-type"),
          ]);
          expect(await head.text()).toBe("");
        }
      },
    );

    it("HEAD opens nothing that GET does not", async () => {
      expect((await ask("HEAD", "/key/list", READ_KEY)).status).toBe(403);
      expect((await ask("HEAD", "/metrics", "sk-unknown")).status).toBe(401);
      expect((await ask("HEAD", "/key/generate")).status).toBe(405);
    });

    it.each([
      ["PUT", "/metrics", ["GET", "HEAD"]],
      ["OPTIONS", "/metrics", ["GET", "HEAD"]],
      ["DELETE", "/requests/x", ["GET", "HEAD"]],
      ["GET", "/config/reload", ["POST"]],
      ["GET", "/deployments/a/b/reset", ["POST"]],
    ])("%s %s is 405 with Allow", async (method, path, allow) => {
      const answer = await ask(method, path);
      expect([answer.status, answer.headers.get("allow")?.split(", ").toSorted()]).toEqual([
        405,
        allow,
      ]);
      expect(await answer.json()).toMatchObject({ error: { code: 405 } });
    });

    it.each([
      "/metrics/",
      "/METRICS",
      "/requests",
      "/requests/",
      "/requests/a/b",
      "/deployments//reset",
      "/",
      "/%6detrics",
    ])("%s has no route but as it is written", async (path) => {
      expect((await ask("POST", path)).status).toBe(path === "/requests" ? 405 : 404);
    });

    it("a percent-encoded part of a path is decoded once", async () => {
      const answer = await ask("GET", "/deployments");
      const { deployments } = (await answer.json()) as {
        deployments: readonly { readonly deployment: string }[];
      };
      for (const { deployment: id } of deployments) {
        const post = (form: string) => ask("POST", `/deployments/${form}/reset`);
        const once = encodeURIComponent(id);
        expect([(await post(id)).status, (await post(once)).status]).toEqual([200, 200]);
        expect((await post(encodeURIComponent(once))).status).toBe(404);
      }
      expect(deployments.length).toBeGreaterThan(0);
    });
  });
}
