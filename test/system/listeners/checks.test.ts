/**
 * `GET /system/checks?online=true` at upstreams that redirect or send without end, and with
 * credentials that cannot be sent: each has its finding, and no finding quotes a secret.
 */

import type { AdminAnswer } from "@sluice/admin-api";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { admin } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const SECRETS = {
  PLAIN: "sk-plain-credential-0123456789",
  TWO_LINES: "sk-first-line-0123456789\nsk-second-line-0123456789",
  ACCENTED: "sk-\u00e9t\u00e9-\u2026-credential-0123456789",
};

let server: Server;
let gateway: GatewayProcess;
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    switch (request.url) {
      case "/redirect/models":
        response.writeHead(302, { location: "/stolen" }).end();
        return;
      case "/endless/models": {
        const more = (): void => {
          while (response.write("[".repeat(65_536)));
        };
        response.on("drain", more);
        more();
        return;
      }
      default:
        response.writeHead(200).end("{}");
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const at = (name: string, variable: string, path = name): string =>
    `${name}: { use: compatible, api_key: "\${env:${variable}}", base_url: "${url}/${path}" }`;
  gateway = await startGateway(
    {
      baseUrl: `${url}/v1`,
      providers: [
        ...["redirect", "endless"].map((name) => at(name, "PLAIN")),
        at("broken", "TWO_LINES"),
        at("accented", "ACCENTED"),
        `gemini: { use: gemini, api_key: "\${env:TWO_LINES}", base_url: "${url}" }`,
        'named: { use: compatible, api_key: "${env:PLAIN}", base_url: "${env:ADDRESS}" }',
      ],
    },
    { ...SECRETS, ADDRESS: `http://user:secret-of-the-address@127.0.0.1:${port}/named` },
  );
});
afterAll(async () => {
  await gateway?.dispose();
  server?.closeAllConnections();
  server?.close();
});

it("finds what is wrong with each provider, and quotes no secret", async () => {
  const response = await admin(gateway, "/system/checks?online=true");
  const text = await response.text();
  expect(text).not.toMatch(/sk-|secret-of-the-address|0123456789/);
  const { checks } = JSON.parse(text) as AdminAnswer<"GET /system/checks">;
  const gradeOf = Object.fromEntries(checks.map(({ name, grade }) => [name, grade]));
  expect(gradeOf).toMatchObject({
    "provider openai": "ok",
    "provider endless": "ok",
    "provider redirect": "fail",
    "provider broken": "fail",
    "provider accented": "fail",
    "provider gemini": "fail",
    "provider named": "fail",
  });
  expect(asked.filter((path) => path === "/stolen")).toEqual([]);
  expect(checks.find(({ name }) => name === "provider broken")?.found).toContain("line break");
});
