/**
 * An upstream that is down under load: it is left alone, clients are refused at once, and it is
 * found when it is back.
 */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { amount } from "../support/proof.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

const PER_SECOND = 200;
/** Short ones, so that some probes fail while the storm lasts: 0.5 s, 1 s, then 2 s each. */
const SHORT_EJECTIONS = "{ breaker: { ejection: 500ms, max_ejection: 2s } }";

let upstream: Upstream;
let gateway: GatewayProcess | undefined;

beforeAll(async () => {
  upstream = await createUpstream();
});
afterEach(async () => {
  await gateway?.dispose();
  upstream.reset();
});
afterAll(() => upstream?.close());

/** What a storm came to. */
interface Storm {
  readonly requests: number;
  readonly statuses: ReadonlySet<number>;
  /** Calls that the upstream saw. */
  readonly reached: number;
  /** How long those waited whom the gateway refused without a call. */
  readonly refusalsMs: readonly number[];
}

/** `PER_SECOND` requests a second, whatever becomes of them. */
async function storm(at: GatewayProcess, seconds: number): Promise<Storm> {
  const refusalsMs: number[] = [];
  const statuses = new Set<number>();
  const sent: Promise<void>[] = [];
  const send = async (): Promise<void> => {
    const startedMs = performance.now();
    const content = `Number ${sent.length}.`;
    const response = await chat(at, {
      model: "gpt-4o-mini",
      messages: [{ role: "user", content }],
    });
    await response.text();
    statuses.add(response.status);
    if (response.headers.get("x-sluice-attempts") === null)
      refusalsMs.push(performance.now() - startedMs);
  };
  for (let tick = 0; tick < seconds * 20; tick += 1) {
    for (let n = 0; n < PER_SECOND / 20; n += 1) sent.push(send());
    await pause(50);
  }
  await Promise.all(sent);
  refusalsMs.sort((a, b) => a - b);
  return { requests: sent.length, statuses, reached: upstream.requests.length, refusalsMs };
}

it(`${PER_SECOND} requests a second reach an upstream that is down hardly ever, and reach it again when it is back`, async () => {
  gateway = await startGateway({ baseUrl: upstream.baseUrl, balance: SHORT_EJECTIONS });
  const at = gateway;
  upstream.script({ kind: "error", status: 503 });
  const { requests, statuses, reached, refusalsMs } = await storm(at, amount(1, 3));
  expect(statuses).toEqual(new Set([503]));
  upstream.script({ kind: "reply" });
  const healedMs = performance.now();
  const isBack = async () =>
    (await chat(at, { model: "gpt-4o-mini", messages: MESSAGES })).status === 200;
  await eventually("the upstream to be found again", isBack, 35_000);
  const backMs = performance.now() - healedMs;
  const p99Ms = refusalsMs[Math.floor(refusalsMs.length * 0.99)] ?? Infinity;
  process.stdout.write(
    `storm: ${requests} requests, ${reached} reached the upstream; refusals p99 ${p99Ms.toFixed(0)} ms; back after ${(backMs / 1_000).toFixed(1)} s\n`,
  );
  // Those that were under way together when the fifth failure came, and the probes.
  expect(reached).toBeLessThan(50);
  // A refusal that waited for a call would take its timeout, ten seconds and more.
  expect(p99Ms).toBeLessThan(5_000);
});

it("without ejections, retries still add no more than a fifth to the load", async () => {
  gateway = await startGateway({ baseUrl: upstream.baseUrl, balance: NEVER_EJECTS });
  upstream.script({ kind: "error", status: 503 });
  const { requests, statuses, reached } = await storm(gateway, amount(1, 2));
  process.stdout.write(
    `storm without ejections: ${requests} requests, ${reached} reached the upstream\n`,
  );
  expect(statuses).toEqual(new Set([503]));
  expect(reached).toBeGreaterThan(requests);
  expect(reached).toBeLessThanOrEqual(requests * 1.2);
});
