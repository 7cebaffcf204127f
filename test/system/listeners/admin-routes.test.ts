/** The routes of the admin listener: which paths and methods exist, for one process and for several workers. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayProcess, MASTER_KEY, startGateway } from "../support/gateway-process.ts";

const READ_KEY = "read-key-of-the-system-tests-0123456789";

describe.each([1, 2])("with %i workers", (workers) => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await startGateway({ server: `workers: ${workers}, admin: { read_key: "\${env:READ_KEY}" }` }, { READ_KEY });
  });
  afterAll(() => gateway?.dispose());

  const ask = (method: string, path: string, key = MASTER_KEY) =>
    fetch(`${gateway.adminUrl}${path}`, { method, headers: { authorization: `Bearer ${key}` } });

  it.each(["/metrics", "/config/status", "/deployments"])("HEAD %s is the GET without its body, for both keys", async (path) => {
    const [get, ...heads] = await Promise.all([ask("GET", path), ask("HEAD", path), ask("HEAD", path, READ_KEY)]);
    for (const head of heads) {
      expect([head.status, head.headers.get("content-type")]).toEqual([200, get.headers.get("content-type")]);
      expect(await head.text()).toBe("");
    }
  });

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
    expect([answer.status, answer.headers.get("allow")?.split(", ").toSorted()]).toEqual([405, allow]);
    expect(await answer.json()).toMatchObject({ error: { code: 405 } });
  });

  it.each(["/metrics/", "/METRICS", "/requests", "/requests/", "/requests/a/b", "/deployments//reset", "/", "/%6detrics"])(
    "%s has no route but as it is written",
    async (path) => {
      expect((await ask("POST", path)).status).toBe(path === "/requests" ? 405 : 404);
    },
  );

  it("a percent-encoded part of a path is decoded once", async () => {
    const answer = await ask("GET", "/deployments");
    const { deployments } = (await answer.json()) as { deployments: readonly { readonly deployment: string }[] };
    for (const { deployment: id } of deployments) {
      const post = (form: string) => ask("POST", `/deployments/${form}/reset`);
      const once = encodeURIComponent(id);
      expect([(await post(id)).status, (await post(once)).status]).toEqual([200, 200]);
      expect((await post(encodeURIComponent(once))).status).toBe(404);
    }
    expect(deployments.length).toBeGreaterThan(0);
  });
});
