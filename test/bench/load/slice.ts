/** A slice: one short burst of one scenario on one target, with what it cost. */

import type { LoadProcess } from "./load-process.ts";
import type { PrepareMessage } from "../messages.ts";
import { cpuMs, residentMb } from "../process-cost.ts";
import { inspectReply } from "../reply.ts";
import { requestBody, requestPath, type Scenario } from "../scenarios.ts";
import type { RunningServer } from "../target.ts";

const WARM_START = 8;

/** What one slice measured. */
export interface Slice {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU microseconds of the server for one request. */
  readonly cpuUs: number;
  /**
   * CPU time of the server over wall time; near 1: the server was the bottleneck, else the load
   * was.
   */
  readonly busy: number;
  readonly residentMb: number;
  /** Reads of the client for one reply: how far the events of a stream still come one by one. */
  readonly reads: number;
}

/** Runs one slice of `count` requests. Throws when a reply is wrong or a status is not 200. */
export async function runSlice(
  load: LoadProcess,
  server: RunningServer,
  scenario: Scenario,
  count: number,
): Promise<Slice> {
  const { pid } = server;
  const { sample } = await load.prepare(requestOf(server, scenario));
  inspectReply(sample, scenario);
  const before = cpuMs(pid);
  const result = await load.go(count);
  const usedMs = cpuMs(pid) - before;
  if (result.failed > 0)
    throw new Error(`${result.failed} of ${count} requests did not get status 200.`);
  return {
    requestsPerSecond: (count / result.elapsedMs) * 1000,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuUs: (usedMs / count) * 1000,
    busy: usedMs / result.elapsedMs,
    residentMb: residentMb(pid),
    reads: result.reads / count,
  };
}

/** What the load sends to a server. */
export function requestOf(server: RunningServer, scenario: Scenario): Omit<PrepareMessage, "kind"> {
  const { port, usedKeys } = server;
  const { concurrency, stream } = scenario;
  const request = wireRequest(server, requestPath(scenario), requestBody(scenario));
  return { port, request, concurrency, stream, usedKeys };
}

/**
 * Runs growing slices until `warmMs` have passed. Returns how many requests make a slice of
 * `sliceMs`.
 */
export async function warmUp(
  load: LoadProcess,
  server: RunningServer,
  scenario: Scenario,
  limits: { readonly warmMs: number; readonly sliceMs: number },
): Promise<number> {
  const end = Date.now() + limits.warmMs;
  let count = scenario.concurrency * WARM_START;
  for (;;) {
    const { requestsPerSecond } = await runSlice(load, server, scenario, count);
    const fitting = Math.max(
      scenario.concurrency * 2,
      Math.round((requestsPerSecond * limits.sliceMs) / 1000),
    );
    if (Date.now() >= end) return fitting;
    count = Math.min(count * 4, fitting);
  }
}

function wireRequest(server: RunningServer, path: string, body: string): string {
  const headers: Record<string, string> = {
    host: `127.0.0.1:${server.port}`,
    accept: "application/json",
    "user-agent": "sluice-bench",
    "content-type": "application/json",
    authorization: "Bearer sk-bench",
    ...server.headers,
    "content-length": String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
