/**
 * `/openapi.json` and `/docs` without `server.open_docs`: a key opens them, as every other route.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayProcess, MASTER_KEY, startGateway } from "../support/gateway-process.ts";

let gateway: GatewayProcess;
beforeAll(async () => void (gateway = await startGateway()));
afterAll(() => gateway?.dispose());

describe("the documentation of the routes", () => {
  it.each(["/openapi.json", "/docs"])("at %s needs a valid key (contract §2, 4)", async (path) => {
    const ask = async (headers: Record<string, string>, method = "GET") =>
      (await fetch(`${gateway.publicUrl}${path}`, { method, headers })).status;
    expect(await ask({})).toBe(401);
    expect(await ask({}, "HEAD")).toBe(401);
    expect(await ask({ authorization: "Bearer sk-no-such-key" })).toBe(401);
    expect(await ask({ authorization: "Basic c2s6eA==" })).toBe(401);
    expect(
      await ask({ authorization: `Bearer ${MASTER_KEY}`, "x-service-api-key": "sk-another" }),
    ).toBe(401);
    expect(await ask({ authorization: `Bearer ${MASTER_KEY}` })).toBe(200);
    expect(await ask({ "x-service-api-key": MASTER_KEY })).toBe(200);
  });
});
