import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { BudgetClaim, Reservation, StateDriver, TakeResult } from "@sluice/contract";
import { createResilientState } from "@sluice/runtime/state";
import { budget, fakeLog, freshId, type LogLine, slot, window } from "@sluice/testing";
import { startProxy, type Proxy } from "./proxy.fixture.ts";
import { adminCommand, redisAnswers, removeKeys, tell, testDriver } from "./redis.fixture.ts";

const hasRedis = await redisAnswers();
const LEASE_MS = 60_000;
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

let proxy: Proxy;
let lines: LogLine[];
let state: StateDriver;

/** A Redis that answers has five seconds: a busy machine is not away. */
const resilient = (instances = 1, timeout = "5s"): StateDriver =>
  createResilientState({
    driver: testDriver({ url: proxy.url, timeout }),
    instances,
    clock,
    log: fakeLog(lines),
  });
const warnings = (): readonly LogLine[] => lines.filter(({ level }) => level === "warn");
/** Until the gateway has noticed that Redis is back. */
const back = async (): Promise<void> => {
  const signal = AbortSignal.timeout(20_000);
  while (!lines.some(({ message }) => message.endsWith("is back")))
    await sleep(20, undefined, { signal });
};
/** A caller as the steps are: asks the ledger when it must, writes its row before it settles. */
function caller(claim: BudgetClaim) {
  let ledger = 0;
  return {
    get ledger() {
      return ledger;
    },
    async take(): Promise<TakeResult & Reservation> {
      const reservation = { id: freshId(), claims: [claim] };
      let result = await state.take(reservation, LEASE_MS);
      for (let tries = 0; result.outcome === "unseeded" && tries < 5; tries += 1) {
        await state.seed(claim.key, ledger);
        result = await state.take(reservation, LEASE_MS);
      }
      return { ...reservation, ...result };
    },
    async settle({ id }: Reservation): Promise<void> {
      ledger += claim.amountNanoUsd;
      await state.settle({ id, claims: [claim] });
    },
  };
}

const granted = <T extends TakeResult>(results: readonly T[]): readonly T[] =>
  results.filter(({ outcome }) => outcome === "granted");

afterAll(async () => {
  if (hasRedis) await removeKeys();
});

describe.skipIf(!hasRedis)("a Redis that is away", () => {
  beforeEach(async () => {
    proxy = await startProxy();
    lines = [];
    state = resilient();
    await state.start(AbortSignal.timeout(20_000));
  });

  afterEach(async () => {
    await state.stop();
    await proxy.close();
  });

  it("is no failure, spends no more than there is, and hears of everything when it is back", async () => {
    const claim = budget(freshId(), 2_000, 100);
    const client = caller(claim);
    const before = granted(await Promise.all(Array.from({ length: 8 }, () => client.take())));
    expect(before).toHaveLength(8);
    await Promise.all(before.slice(0, 5).map(client.settle));

    proxy.die();
    const during = await Promise.all(Array.from({ length: 100 }, () => client.take()));
    expect(granted(during)).toHaveLength(12);
    await Promise.all(granted(during).slice(0, 4).map(client.settle));
    await state.settle({ id: before[5]!.id, claims: [budget(claim.key, 2_000, 0)] });
    expect(await state.cache.get("anything")).toBeUndefined();
    expect(await state.records.begin("alone", "body", "one", 1_000)).toEqual({ outcome: "new" });
    expect(warnings()).toHaveLength(1);

    proxy.mend();
    await back();
    // 9 settled, 1 given back, 10 held: one more fits.
    expect(
      granted(await Promise.all(Array.from({ length: 50 }, () => client.take()))),
    ).toHaveLength(1);
    expect((await state.read([claim.key]))[0]).toMatchObject({
      spentNanoUsd: 900,
      reservedNanoUsd: 1_100,
    });
    expect(client.ledger).toBe(900);
    expect(warnings()).toHaveLength(1);
  });

  it("costs one wait when it is slow, not one a request", async () => {
    const claims = [window(freshId(), 1_000), slot(freshId(), 1_000)];
    const impatient = resilient(1, "500ms");
    await impatient.start(AbortSignal.timeout(20_000));
    await impatient.take({ id: freshId(), claims }, LEASE_MS);
    proxy.slow(60_000);
    const startMs = performance.now();
    const first = await impatient.take({ id: freshId(), claims }, LEASE_MS);
    const firstMs = performance.now() - startMs;
    const rest = Array.from({ length: 1_000 }, () =>
      impatient.take({ id: freshId(), claims }, LEASE_MS),
    );
    expect(first.outcome).toBe("granted");
    // Decided locally: there is no promise to wait for.
    expect(rest.some((answer) => answer instanceof Promise)).toBe(false);
    expect(granted(rest as TakeResult[])).toHaveLength(998);
    expect(warnings()).toHaveLength(1);
    await impatient.stop();
    tell(
      `slow Redis: the first call took ${firstMs.toFixed(0)} ms, 1,000 more ${(performance.now() - startMs - firstMs).toFixed(1)} ms`,
    );
  });

  it("may be flushed: what is spent comes from the ledger, what is reserved from here", async () => {
    const client = caller(budget(freshId(), 1_000, 100));
    const first = granted(await Promise.all(Array.from({ length: 6 }, () => client.take())));
    await Promise.all(first.slice(0, 2).map(client.settle));
    await removeKeys();
    expect(
      granted(await Promise.all(Array.from({ length: 40 }, () => client.take()))),
    ).toHaveLength(4);
    expect(warnings()).toEqual([]);
  });

  it("may forget the scripts", async () => {
    const claims = [window(freshId(), 10)];
    expect((await state.take({ id: freshId(), claims }, LEASE_MS)).outcome).toBe("granted");
    await adminCommand("SCRIPT", "FLUSH");
    expect(await state.take({ id: freshId(), claims }, LEASE_MS)).toMatchObject({
      outcome: "granted",
      states: [{ remaining: 8 }],
    });
    expect(warnings()).toEqual([]);
  });

  it("may have become a replica: it counts as away until it takes writes", async () => {
    const claims = [window(freshId(), 10)];
    proxy.lie("-READONLY You can't write against a read only replica.\r\n");
    expect((await state.take({ id: freshId(), claims }, LEASE_MS)).outcome).toBe("granted");
    expect(warnings().map(({ fields }) => fields?.["reason"])).toEqual([
      expect.stringContaining("READONLY"),
    ]);
    proxy.mend();
    await back();
    expect((await state.take({ id: freshId(), claims }, LEASE_MS)).outcome).toBe("granted");
  });

  it("may be away at the start", async () => {
    proxy.die();
    const late = resilient(2);
    await late.start(AbortSignal.timeout(20_000));
    const claims = [slot(freshId(), 4)];
    const results = [1, 2, 3].map(() => late.take({ id: freshId(), claims }, LEASE_MS));
    // Half of the limit: the other gateway has the other half.
    expect(await Promise.all(results)).toMatchObject([
      { outcome: "granted" },
      { outcome: "granted" },
      { outcome: "refused" },
    ]);
    await late.stop();
  });
});

describe.skipIf(!hasRedis)("a connection with late replies", () => {
  it("never returns a reply to another call, in 10,000 calls", async () => {
    proxy = await startProxy();
    const driver = testDriver({ url: proxy.url, timeout: "60ms" });
    await driver.start(AbortSignal.timeout(20_000));
    const keys = Array.from({ length: 50 }, (_, at) => `talk:${at}:${freshId()}`);
    const patient = testDriver();
    await patient.start(AbortSignal.timeout(20_000));
    await Promise.all(keys.map((key, at) => patient.seed(key, at)));
    await Promise.all(keys.map((key) => patient.cache.set(key, Buffer.from(key), 60_000)));
    await patient.stop();
    let right = 0;
    let wrong = 0;
    let failed = 0;
    for (let round = 0; round < 200; round += 1) {
      // Entries have a connection of their own, and a longer time.
      if (round % 20 === 7) proxy.slow(round % 40 === 7 ? 200 : 700);
      const entries = Promise.all(keys.map((key) => driver.cache.get(key)));
      const answers = await Promise.allSettled(keys.map((key) => driver.read([key])));
      for (const [at, answer] of answers.entries()) {
        if (answer.status === "rejected") failed += 1;
        else if (answer.value[0]?.spentNanoUsd === at) right += 1;
        else wrong += 1;
      }
      const found = await entries.catch(() => []);
      wrong += found.filter(
        (entry, at) => entry && Buffer.from(entry).toString() !== keys[at],
      ).length;
      if (answers.every(({ status }) => status === "fulfilled")) continue;
      proxy.mend();
      // Until there is a connection again.
      for (let tries = 0; tries < 100; tries += 1) {
        await sleep(20);
        const isThere = await Promise.resolve(driver.read(["talk:0"])).then(
          () => true,
          () => false,
        );
        if (isThere) break;
      }
    }
    await driver.stop();
    await proxy.close();
    tell(
      `late replies: ${right} right, ${failed} failed, ${wrong} wrong, ${proxy.opened} connections`,
    );
    expect(wrong).toBe(0);
    expect(right + failed).toBe(10_000);
    expect(failed).toBeGreaterThan(100);
  });
});

describe.skipIf(!hasRedis)("a Redis with a long queue", () => {
  afterEach(() => vi.useRealTimers());

  it("is not away: every decision of a burst is its own", async () => {
    // Time passes as the test says, whatever the machine does meanwhile.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    proxy = await startProxy();
    const driver = testDriver({ url: proxy.url, timeout: "100ms" });
    await driver.start(new AbortController().signal);
    const claim = budget(freshId(), 20_000, 100);
    await driver.seed(claim.key, 0);
    expect((await driver.take({ id: freshId(), claims: [claim] }, LEASE_MS)).outcome).toBe(
      "granted",
    );
    proxy.hold();
    let answered = 0;
    const results = Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const result = await driver.take({ id: freshId(), claims: [claim] }, LEASE_MS);
        answered += 1;
        return result;
      }),
    );
    results.catch(() => undefined);
    // The burst takes 300 ms; the answers to one call of several decisions come every 60 ms.
    for (let part = 0; part < 5; part += 1) {
      const before = answered;
      await until(() => proxy.nextReply > 0);
      proxy.release(proxy.nextReply);
      await until(() => answered > before);
      vi.advanceTimersByTime(60);
    }
    expect(answered).toBeLessThan(1_000);
    await until(() => {
      proxy.release(1_000_000);
      return answered === 1_000;
    });
    expect(granted(await results)).toHaveLength(199);
    await driver.stop();
    await proxy.close();
  });
});

/** Waits for turns of the event loop, with the machine's own clock. */
async function until(isThere: () => boolean): Promise<void> {
  const untilMs = Date.now() + 20_000;
  while (!isThere()) {
    if (Date.now() > untilMs) throw new Error("It did not come.");
    await new Promise((resolve) => setImmediate(resolve));
  }
}
