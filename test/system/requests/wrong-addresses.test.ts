/**
 * Clients with a wrong base address: of another service, of a route, of the other listener. The 404
 * names the right one.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MESSAGES } from "../support/client.ts";
import { type GatewayProcess, MASTER_KEY, startGateway } from "../support/gateway-process.ts";

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway?.dispose();
});

async function messageOf(url: string, method = "POST"): Promise<string> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" },
    ...(method === "POST" && { body: JSON.stringify({ model: "echo", messages: MESSAGES }) }),
  });
  expect(answer.status).toBe(404);
  return ((await answer.json()) as { error: { message: string } }).error.message;
}

describe("a client whose base address", () => {
  it.each([
    ["is the route", "/v1/chat/completions/chat/completions"],
    ["is that of another service", "/api/v1/chat/completions"],
    ["has another version", "/v2/chat/completions"],
    ["has two versions", "/v1/v1/chat/completions"],
  ])("%s is given the route", async (_case, path) => {
    expect(await messageOf(gateway.publicUrl + path)).toBe(
      "This path does not exist. This gateway serves POST /v1/chat/completions: correct the base address of the client.",
    );
  });

  it("has an address of Gemini's with another version is given the route", async () => {
    for (const path of ["/v1alpha", "/v1beta1/publishers/google"])
      expect(await messageOf(`${gateway.publicUrl}${path}/models/echo:generateContent`)).toContain(
        "serves POST /v1/models/echo:generateContent",
      );
  });

  it("is all of the address is answered that a path is missing", async () => {
    for (const path of ["", "/v1"])
      expect(await messageOf(gateway.publicUrl + path)).toContain("clients add the rest of a path");
  });
});

describe("the port of the other listener", () => {
  it.each(["/v1/chat/completions", "/v1/messages", "/chat/completions"])(
    "%s on the admin listener",
    async (path) => {
      expect(await messageOf(gateway.adminUrl + path)).toContain("listener for clients");
    },
  );

  it.each(["GET /health/ready", "GET /v1/models", "GET /docs"])(
    "%s on the admin listener",
    async (route) => {
      const [method = "", path = ""] = route.split(" ");
      expect(await messageOf(gateway.adminUrl + path, method)).toContain("listener for clients");
    },
  );

  it.each([
    "POST /user/new",
    "POST /customer/new",
    "GET /ui",
    "GET /audit",
    "GET /organization/list",
  ])("%s on the listener for clients", async (route) => {
    const [method = "", path = ""] = route.split(" ");
    expect(await messageOf(gateway.publicUrl + path, method)).toContain("admin listener");
  });
});

describe("a route that the shipped pipelines leave out", () => {
  it("is named with the line that adds it", async () => {
    expect(await messageOf(`${gateway.publicUrl}/v1/completions`)).toContain(
      "`{ route: POST /v1/completions, face: completions }`",
    );
  });
});
