/** Money in Redis when gateways are killed, cut off or late. Skipped by name without a Redis. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StateDriver } from "@sluice/contract";
import { budget, freshId } from "@sluice/testing";
import { REDIS, redisAnswers, removeKeys, tell, testDriver } from "./redis.fixture.ts";

const hasRedis = await redisAnswers();
if (!hasRedis) tell(`no Redis on ${REDIS.host}:${REDIS.port}: the tests of money are skipped`);
const LEASE_MS = 60_000;

let state: StateDriver;
let key: string;

const claim = (amount: number, limit = 1_000) => budget(key, limit, amount);
const take = async (amount: number, leaseMs = LEASE_MS, driver = state) => {
  const id = freshId();
  const { outcome } = await driver.take({ id, claims: [claim(amount)] }, leaseMs);
  return { id, outcome };
};
const money = async () => {
  const [reading] = await state.read([key]);
  return [reading?.spentNanoUsd, reading?.reservedNanoUsd];
};

describe.skipIf(!hasRedis)("money in Redis", () => {
  beforeAll(async () => {
    state = testDriver();
    await state.start(AbortSignal.timeout(5_000));
  });
  beforeEach(async () => {
    key = freshId();
    await state.seed(key, 0);
  });
  afterAll(async () => {
    await state.stop();
    await removeKeys();
  });

  it("is spent when a lease ends without a settlement, which corrects it when it comes", async () => {
    const { id } = await take(400, 50);
    const second = await take(300, 50);
    await sleep(60);
    expect(await money()).toEqual([700, 0]);
    expect((await take(400)).outcome).toBe("refused");
    await state.settle({ id, claims: [claim(150)] });
    await state.settle({ id, claims: [claim(150)] });
    expect(await money()).toEqual([450, 0]);
    // A gateway that was only stalled still has its reservation.
    await state.renew([{ id: second.id, claims: [claim(300)] }], LEASE_MS);
    expect(await money()).toEqual([150, 300]);
    await state.settle({ id: second.id, claims: [claim(0)] });
    expect(await money()).toEqual([150, 0]);
  });

  it("frees more leases than one call ends", async () => {
    await Promise.all(Array.from({ length: 250 }, () => take(1, 50)));
    await sleep(60);
    for (let calls = 0; calls < 3; calls += 1) await money();
    expect(await money()).toEqual([250, 0]);
  });

  it("is not counted twice by a late settlement whose row the seed has", async () => {
    const [early, late, unknown] = [await take(100), await take(100), await take(100)];
    await state.reset(key);
    await state.seed(key, 500, { readMs: 1_000 });
    await state.settle({ id: early.id, claims: [claim(70)] }, 5_000);
    expect(await money()).toEqual([500, 200]);
    await state.settle({ id: late.id, claims: [claim(70)] }, 100);
    await state.settle({ id: unknown.id, claims: [claim(70)] });
    expect(await money()).toEqual([640, 0]);
  });

  it("is not counted twice by a late settlement while the ledger is asked", async () => {
    const [early, late] = [await take(100), await take(100)];
    await state.reset(key);
    expect((await take(1)).outcome).toBe("unseeded");
    // The first one's row has been in the ledger for a minute, the second one's may not be there.
    await state.settle({ id: early.id, claims: [claim(70)] }, 60_000);
    await state.settle({ id: late.id, claims: [claim(70)] });
    await state.seed(key, 500);
    expect(await money()).toEqual([570, 0]);
  });
});

describe.skipIf(!hasRedis)("gateways that are missing", () => {
  const drivers: StateDriver[] = [];
  const prefix = `{sluice-presence-${freshId()}}:`;
  const start = async (): Promise<StateDriver> => {
    const driver = testDriver({ prefix });
    await driver.start(AbortSignal.timeout(5_000));
    drivers.push(driver);
    return driver;
  };
  /** What is granted of single nano-dollars at once. */
  const granted = async (driver: StateDriver): Promise<number> => {
    const results = await Promise.all(Array.from({ length: 100 }, () => take(1, LEASE_MS, driver)));
    const taken = results.filter(({ outcome }) => outcome === "granted");
    held.push(...taken);
    return taken.length;
  };
  const held: { readonly id: string }[] = [];
  /** Each knows of the others' last reports. */
  const beat = async (...there: StateDriver[]) => {
    for (const driver of [...there, ...there]) await driver.beat?.(3);
  };

  beforeEach(() => {
    key = freshId();
    held.length = 0;
  });
  afterEach(async () => {
    await Promise.all(drivers.splice(0).map((driver) => driver.stop()));
  });

  it("have their share of a budget left to them, until they are back", async () => {
    const [one, two, three] = [await start(), await start(), await start()];
    await beat(one, two, three);
    await one.seed(key, 970);
    await sleep(1_600);
    await beat(one, two);
    // A third of 30 is left to the third one.
    expect((await granted(one)) + (await granted(two))).toBe(20);
    await beat(three);
    await beat(one, two);
    expect(await granted(two)).toBe(10);
  });

  it("have none when they left, or when another one has taken their place", async () => {
    const [one, two, three] = [await start(), await start(), await start()];
    await beat(one, two, three);
    await three.stop();
    await sleep(1_600);
    await beat(one, two);
    await one.seed(key, 970);
    expect(await granted(one)).toBe(30);
    const four = await start();
    key = freshId();
    await beat(one, four);
    await sleep(1_600);
    await beat(one, four, await start());
    await one.seed(key, 970);
    expect(await granted(one)).toBe(30);
  });

  it("have what they spent alone read from the ledger, after they were killed", async () => {
    const [one, two, three] = [await start(), await start(), await start()];
    await beat(one, two, three);
    await one.seed(key, 940);
    const early = await take(10, LEASE_MS, one);
    // The third is killed after it has spent 16 alone. A third of what was left is 20.
    await sleep(1_600);
    await beat(one, two);
    expect(await granted(one)).toBe(30);
    const four = await start();
    await four.beat?.(3, true);
    await beat(one, two);
    // Nothing is given back while calls are under way: their rows may be on their way.
    expect((await take(1, LEASE_MS, two)).outcome).toBe("refused");
    await one.settle({ id: early.id, claims: [claim(10)] });
    expect((await take(1, LEASE_MS, two)).outcome).toBe("refused");
    for (const { id } of held.splice(0)) await one.settle({ id, claims: [claim(1)] });
    expect((await take(1, LEASE_MS, two)).outcome).toBe("refused");
    await sleep(3_100);
    expect((await take(1, LEASE_MS, two)).outcome).toBe("unseeded");
    // One asks the ledger; the others are served meanwhile.
    expect((await take(1, LEASE_MS, four)).outcome).toBe("refused");
    await two.seed(key, 996);
    expect((await take(4, LEASE_MS, four)).outcome).toBe("granted");
    expect((await take(1, LEASE_MS, two)).outcome).toBe("refused");
  });

  it("take nothing away where the ledger says less than the counter", async () => {
    const [one, two] = [await start(), await start()];
    await beat(one, two);
    await one.seed(key, 900);
    await two.beat?.(3, true);
    await beat(one);
    expect((await take(1, LEASE_MS, one)).outcome).toBe("unseeded");
    // A ledger that is read in the millisecond of the change may be behind it, and is asked again.
    await sleep(5);
    await one.seed(key, 800);
    expect((await take(101, LEASE_MS, one)).outcome).toBe("refused");
  });
});
