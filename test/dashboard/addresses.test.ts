/** Check 19: on loopback by name and by number, and behind TLS that ends before the gateway. */

import { createServer } from "node:https";
import { request } from "node:http";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePorts } from "../system/support/free-ports.ts";
import { hasOpenssl, makePair } from "../system/support/listeners/tls.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import type { Site } from "./support/site.ts";
import { startStand } from "./support/stand.ts";
import { type Visit, visit } from "./support/visit.ts";

const PLACES = [
  ["#/overview", "Overview"],
  ["#/keys", "Keys"],
  ["#/history", "History"],
  ["#/editor", "Editor"],
] as const;

describe.skipIf(CHROMIUM === undefined)("addresses of the dashboard", () => {
  it("check 19: signs in by name and by number", async () => {
    await using stand = await startStand();
    const { adminUrl, masterKey } = stand.gateway;
    for (const host of ["localhost", "127.0.0.1"]) {
      const url = `${adminUrl.replace("127.0.0.1", host)}/ui/`;
      await using visitor = await visit(await sharedBrowser(), { ...stand.site, url });
      await walk(visitor, masterKey);
      expect(new URL(visitor.page.url()).hostname).toBe(host);
      expect(visitor.unexpected()).toEqual([]);
    }
  });

  it.skipIf(!hasOpenssl)("check 19: behind TLS, with public_url", async () => {
    const port = Number((await freePorts()).SLUICE_PORT);
    const origin = `https://127.0.0.1:${port}`;
    await using stand = await startStand({ server: `admin: { public_url: "${origin}" }` });
    const { adminUrl, masterKey, workspace } = stand.gateway;
    const cert = makePair(workspace, "proxy");
    const key = readFileSync(join(workspace.configPath, "../tls/tls.key"), "utf8");
    const to = new URL(adminUrl);
    const proxy = createServer({ key, cert }, (incoming, response) => {
      const { method = "GET", url: path = "/", headers } = incoming;
      const sent = request(
        { host: to.hostname, port: to.port, method, path, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      sent.on("error", () => response.destroy());
      incoming.pipe(sent);
    });
    proxy.listen(port, "127.0.0.1");
    await once(proxy, "listening");
    try {
      const site: Site = { ...stand.site, url: `${origin}/ui/` };
      await using visitor = await visit(await sharedBrowser(), site, { ignoreHTTPSErrors: true });
      await walk(visitor, masterKey);
      const [cookie] = await visitor.page.context().cookies(origin);
      expect(cookie).toMatchObject({
        name: "__Host-sluice",
        secure: true,
        httpOnly: true,
        sameSite: "Strict",
      });
      expect(visitor.unexpected()).toEqual([]);
    } finally {
      proxy.close();
      proxy.closeAllConnections();
    }
  });
});

async function walk(visitor: Visit, key: string): Promise<void> {
  await visitor.signIn(key);
  for (const [fragment, heading] of PLACES) await visitor.open(fragment, heading);
  await visitor.page.locator(".editor-place .cm-line").first().waitFor();
}
