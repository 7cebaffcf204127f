import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedStateContract } from "@sluice/testing";
import { REDIS, redisAnswers, removeKeys, tell, testDriver } from "./redis.fixture.ts";

const hasRedis = await redisAnswers();
if (!hasRedis)
  tell(`no Redis on ${REDIS.host}:${REDIS.port}: the tests of shared state in Redis are skipped`);

describe.skipIf(!hasRedis)("with a Redis", () => {
  const state = testDriver();
  const second = testDriver();

  beforeAll(async () => {
    await Promise.all([
      state.start(AbortSignal.timeout(5_000)),
      second.start(AbortSignal.timeout(5_000)),
    ]);
  });

  afterAll(async () => {
    await Promise.all([state.stop(), second.stop()]);
    await removeKeys();
  });

  sharedStateContract({ describe, it, expect }, "redis", async () => ({
    state,
    second,
    wait: async (ms) => void (await sleep(ms)),
    tooManyBytes: 65_537,
  }));
});
