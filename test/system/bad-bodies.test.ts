/** Bodies that a good client never sends: each is refused by its name or accepted as decided, none costs time or a 500. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BAD_BODIES } from "./bad-bodies.ts";
import { chat, MESSAGES } from "./client.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";

/** Generous, for machines that do much else. The figure to reach is 250 ms; the slowest is printed. */
const DEADLINE_MS = 2_000;

let gateway: GatewayProcess;
const times: { name: string; ms: number }[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  // The first request compiles what all of them run.
  await chat(gateway, { model: "echo", messages: MESSAGES });
});
afterAll(async () => {
  await gateway?.dispose();
  const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, 3);
  console.log(`${times.length} bodies, slowest: ${slowest.map(({ name, ms }) => `${name} ${ms.toFixed(0)} ms`).join("; ")}`);
});

describe("bodies", () => {
  it("are a hundred or more", () => {
    expect(BAD_BODIES.length).toBeGreaterThanOrEqual(100);
  });

  it.each(BAD_BODIES)("$name: $status", async ({ name, body, status, param, headers = {} }) => {
    const startedMs = performance.now();
    const response = await chat(gateway, "", { body: body as string, headers: headers as Record<string, string> });
    const text = await response.text();
    const ms = performance.now() - startedMs;
    times.push({ name, ms });
    expect({ status: response.status, text: text.slice(0, 300) }).toMatchObject({ status });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(ms).toBeLessThan(DEADLINE_MS);
    if (status === 200) return;
    const { error } = JSON.parse(text) as { error: { type: string; code: number; param: string | null; message: string } };
    expect(error).toMatchObject({ code: status, param: param ?? null });
    expect(error.type).toBe(status === 404 ? "not_found_error" : "invalid_request_error");
    expect(error.message.length).toBeLessThan(600);
    expect(error.message).not.toMatch(/\bat \/|node:|\.ts\b|127\.0\.0\.1/);
  });

  it("leave a gateway that serves, and nothing that it had to report", async () => {
    const response = await chat(gateway, { model: "echo", messages: MESSAGES });
    expect(response.status).toBe(200);
    expect(((await response.json()) as { polluted?: unknown }).polluted).toBeUndefined();
    expect(gateway.stderr).not.toMatch(/"level":(?:50|60)/);
  });
});
