/**
 * Bodies that a good client never sends: each is refused by its name or accepted as decided, none
 * costs a 500; the slowest are printed.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { BAD_BODIES } from "./bad-bodies.ts";
import { chat, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let gateway: GatewayProcess;
let upstream: Upstream;
const times: { name: string; ms: number }[] = [];

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
  // The first request compiles what all of them run.
  await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
  const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, 3);
  console.log(
    `${times.length} bodies, slowest: ${slowest.map(({ name, ms }) => `${name} ${ms.toFixed(0)} ms`).join("; ")}`,
  );
});

describe("bodies", () => {
  it("are a hundred or more", () => {
    expect(BAD_BODIES.length).toBeGreaterThanOrEqual(100);
  });

  it.each(BAD_BODIES)("$name: $status", async ({ name, body, status, param, headers = {} }) => {
    const startedMs = performance.now();
    const response = await chat(gateway, "", {
      body: body as string,
      headers: headers as Record<string, string>,
    });
    const text = await response.text();
    const ms = performance.now() - startedMs;
    times.push({ name, ms });
    expect({ status: response.status, text: text.slice(0, 300) }).toMatchObject({ status });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    if (status === 200) return;
    const { error } = JSON.parse(text) as {
      error: { type: string; code: number; param: string | null; message: string };
    };
    expect(error).toMatchObject({ code: status, param: param ?? null });
    expect(error.type).toBe(status === 404 ? "not_found_error" : "invalid_request_error");
    expect(error.message.length).toBeLessThan(600);
    expect(error.message).not.toMatch(/\bat \/|node:|\.ts\b|127\.0\.0\.1/);
  });

  it("leave a gateway that serves, and nothing that it had to report", async () => {
    const response = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    expect(response.status).toBe(200);
    expect(((await response.json()) as { polluted?: unknown }).polluted).toBeUndefined();
    expect(gateway.stderr).not.toMatch(/"level":(?:50|60)/);
  });
});
