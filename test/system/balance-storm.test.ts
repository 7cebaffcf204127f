/** An upstream that is down under load: it is left alone, clients are refused at once, and it is found when it is back. */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/kit/testing";
import { chat, MESSAGES } from "./client.ts";
import { eventually } from "./eventually.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";

const PER_SECOND = 200;
const SECONDS = 4;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

it(`${PER_SECOND} requests a second reach an upstream that is down hardly ever, and reach it again when it is back`, async () => {
  upstream.script({ kind: "error", status: 503 });
  const refusalsMs: number[] = [];
  const send = async (): Promise<void> => {
    const startedMs = performance.now();
    const response = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    await response.text();
    expect(response.status).toBe(503);
    if (response.headers.get("x-sluice-attempts") === null) refusalsMs.push(performance.now() - startedMs);
  };
  const sent: Promise<void>[] = [];
  for (let tick = 0; tick < SECONDS * 20; tick += 1) {
    for (let n = 0; n < PER_SECOND / 20; n += 1) sent.push(send());
    await pause(50);
  }
  await Promise.all(sent);
  const reached = upstream.requests.length;
  upstream.script({ kind: "reply" });
  const healedMs = performance.now();
  const isBack = async () => (await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).status === 200;
  await eventually("the upstream to be found again", isBack, 35_000);
  const backMs = performance.now() - healedMs;
  refusalsMs.sort((a, b) => a - b);
  const p99Ms = refusalsMs[Math.floor(refusalsMs.length * 0.99)] ?? Infinity;
  process.stdout.write(
    `storm: ${sent.length} requests, ${reached} reached the upstream; refusals p99 ${p99Ms.toFixed(0)} ms; back after ${(backMs / 1_000).toFixed(1)} s\n`,
  );
  // Those that were under way together when the fifth failure came, and no more.
  expect(reached).toBeLessThan(50);
  expect(p99Ms).toBeLessThan(300);
});
