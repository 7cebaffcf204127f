/** The files of the dashboard under `/ui/`, the same for one process and for several workers. */

import { request } from "node:http";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { type GatewayProcess, startGateway, startOwnProcess } from "../gateway-process.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; font-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Asks as a browser does: `fetch` would set headers of its own and follow redirects. */
export function askFor(
  url: string,
  method = "GET",
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.on("error", reject).end();
  });
}

/** The tests with a number of workers. Call it in a `describe`. */
export function dashboardFileTests(workers: 1 | 2): void {
  const start = workers === 1 ? startGateway : startOwnProcess;
  let gateway: GatewayProcess;
  let page = "";
  const ask = (path: string, method?: string, headers?: Readonly<Record<string, string>>) =>
    askFor(`${gateway.adminUrl}${path}`, method, headers);

  beforeAll(async () => {
    gateway = await start({ server: `workers: ${workers}` });
    // A start builds the dashboard where its sources are newer.
    const built = await eventually("the dashboard to be built", async () => {
      const reply = await ask("/ui/");
      return reply.status === 200 ? reply : undefined;
    });
    page = built.body.toString();
  }, 120_000);
  afterAll(() => gateway?.dispose());

  it("check 6: have the headers that keep foreign code out, word for word", async () => {
    const [, asset = ""] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page) ?? [];
    for (const path of ["/ui/", "/ui/index.html", `/ui/${asset}`, "/ui/nothing"]) {
      const { headers } = await ask(path);
      expect([path, headers]).toEqual([
        path,
        expect.objectContaining({
          "content-security-policy": POLICY,
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-resource-policy": "same-origin",
          "permissions-policy": expect.stringContaining("camera=()"),
        }),
      ]);
      expect(headers).not.toHaveProperty("set-cookie");
      expect(headers).not.toHaveProperty("access-control-allow-origin");
    }
    expect(page).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\son\w+=|style=/);
  });

  it("are kept by their digests, compressed, and the page is not kept at all", async () => {
    const [, asset = ""] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page) ?? [];
    const plain = await ask(`/ui/${asset}`);
    expect([plain.status, plain.headers["content-type"], plain.headers["cache-control"]]).toEqual([
      200,
      "text/javascript; charset=utf-8",
      "public, max-age=31536000, immutable",
    ]);
    const small = await ask(`/ui/${asset}`, "GET", { "accept-encoding": "br, gzip" });
    expect(small.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
    expect(small.body.length).toBeLessThan(plain.body.length);
    const etag = String(plain.headers["etag"]);
    const again = await ask(`/ui/${asset}`, "GET", { "if-none-match": `"other", ${etag}` });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    const head = await ask(`/ui/${asset}`, "HEAD");
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect((await ask("/ui/")).headers["cache-control"]).toBe("no-store");
  });

  it("need no credential, are found by relative names, and are nothing else", async () => {
    const { status, headers } = await ask("/ui");
    expect([status, headers["location"]]).toEqual([301, "ui/"]);
    // The first two are `/config/files` and `/package.json`: they need a key.
    const statuses: Record<string, number> = {
      "/ui/../config/files": 401,
      "/ui/%2e%2e/package.json": 401,
      "/ui/files.json": 404,
      "/ui//": 404,
      "/ui/assets/..%2f..%2fpackage.json": 404,
    };
    for (const [path, expected] of Object.entries(statuses))
      expect([path, (await ask(path)).status]).toEqual([path, expected]);
    expect((await ask("/ui/", "POST")).status).toBe(405);
    expect((await ask("/ui/session")).status).toBe(401);
    expect((await ask("/ui/", "GET", { host: "evil.test" })).status).toBe(421);
    expect((await askFor(`${gateway.publicUrl}/ui/`)).status).not.toBe(200);
  });

  it("answers of the listener have a tag, and 304 while they are the same", async () => {
    const authorization = `Bearer ${gateway.masterKey}`;
    const first = await ask("/team/list?limit=5", "GET", { authorization });
    const etag = String(first.headers["etag"]);
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const same = await ask("/team/list?limit=5", "GET", { authorization, "if-none-match": etag });
    expect([same.status, same.body.length]).toEqual([304, 0]);
    const refused = await ask("/team/list?limit=5", "GET", { "if-none-match": etag });
    expect(refused.status).toBe(401);
    await fetch(`${gateway.adminUrl}/team/new`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: "{}",
    });
    const changed = await ask("/team/list?limit=5", "GET", {
      authorization,
      "if-none-match": etag,
    });
    expect([changed.status, changed.headers["etag"] === etag]).toEqual([200, false]);
  });
}
