import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { GatewayError } from "@sluice/contract";
import type { LiveExchange } from "../../pipeline/exchange.ts";
import { StalledClients } from "./stalled.ts";

const TIMEOUT_MS = 30_000;
const WAITING = 200_000;

/** A response whose client has taken `taken` of what was written; the rest waits. */
class FakeResponse extends EventEmitter {
  taken = 0;
  waiting = WAITING;
  destroyed = false;
  isTurn = true;

  get writableLength(): number {
    return this.waiting;
  }

  get socket(): object | null {
    return this.isTurn
      ? { bytesWritten: this.taken + this.waiting, writableLength: this.waiting }
      : null;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

let response: FakeResponse;
let reasons: string[];

beforeEach(() => {
  vi.useFakeTimers();
  response = new FakeResponse();
  reasons = [];
  const exchange = { abort: (reason: GatewayError) => reasons.push(reason.code) };
  const clock = { now: () => Date.now(), monotonic: () => Date.now() };
  const clients = new StalledClients(clock);
  const watched = clients.watch(
    exchange as unknown as LiveExchange,
    response as unknown as ServerResponse,
    TIMEOUT_MS,
  );
  response.on("close", () => clients.end(watched));
});
afterEach(() => vi.useRealTimers());

/** So many seconds, in each of which the client takes some bytes. */
function run(seconds: number, bytesPerSecond: number): void {
  for (let second = 0; second < seconds; second += 1) {
    vi.advanceTimersByTime(1_000);
    response.taken += bytesPerSecond;
  }
}

describe("a client that reads", () => {
  it("nothing is cut after the time limit and before twice that", () => {
    run(29, 0);
    expect(response.destroyed).toBe(false);
    run(6, 0);
    expect([response.destroyed, reasons]).toEqual([true, ["client_stalled"]]);
  });

  it("less than 1 KiB a second is cut", () => {
    run(36, 900);
    expect(reasons).toEqual(["client_stalled"]);
  });

  it("slowly is not", () => {
    run(300, 1_200);
    expect(response.destroyed).toBe(false);
  });

  it("everything there is waits as long as the upstream takes", () => {
    response.waiting = 0;
    run(300, 0);
    expect(response.destroyed).toBe(false);
  });

  it("everything leaves no timer behind", () => {
    response.emit("close");
    run(8, 0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("an earlier reply of its connection is not cut for a later one", () => {
    response.isTurn = false;
    run(300, 0);
    expect(response.destroyed).toBe(false);
  });
});
