/**
 * Repeats, kept replies, identical requests and the slots of a team over two gateways on one Redis.
 * Skipped by name where no Redis answers.
 */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import {
  adminCommand,
  REDIS,
  redisAnswers,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { admin, chat, MESSAGES, rowsOf, type SpendRow } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const hasRedis = await redisAnswers();
const RUN = randomUUID();
const PREFIX = `{sluice-two-${RUN}}:`;
const KEY = "sk-of-the-two-gateways-tests-0123456789abcdef";
/** Keys of one team. */
const LOUD = "sk-loud-of-the-two-gateways-tests-0123456789abcdef";
const QUIET = "sk-quiet-of-the-two-gateways-tests-0123456789abcdef";
const TEAM = "shared";
const SLOTS = 8;

let upstream: Upstream;
let one: GatewayProcess;
let other: GatewayProcess;
let serial = 0;
const workspaces: Workspace[] = [];

async function gatewayOnRedis(): Promise<GatewayProcess> {
  const options = { baseUrl: upstream.baseUrl, attempts: 1 };
  const workspace = createWorkspace(options);
  workspaces.push(workspace);
  const shared = `shared: { use: redis, url: "\${env:TEST_REDIS_URL}", prefix: "${PREFIX}", instances: 2, command_timeout: 5s }\n`;
  workspace.write(
    `${workspace.config(options)}${shared}keys:
  - { alias: shared, key: "\${env:SHARED_KEY}", max_budget: 10 }
  - { alias: loud, key: "\${env:LOUD_KEY}", team_id: ${TEAM} }
  - { alias: quiet, key: "\${env:QUIET_KEY}", team_id: ${TEAM} }
`,
  );
  const gateway = await startGateway(workspace, {
    SHARED_KEY: KEY,
    LOUD_KEY: LOUD,
    QUIET_KEY: QUIET,
    TEST_REDIS_URL: `redis://${REDIS.host}:${REDIS.port}/9`,
  });
  const team = { team_id: TEAM, max_parallel_requests: SLOTS };
  expect((await admin(gateway, "/team/new", team)).status).toBe(200);
  return gateway;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly row: (SpendRow & { readonly cache_hit: boolean }) | undefined;
}

async function ask(gateway: GatewayProcess, sent: object, named?: string): Promise<Answer> {
  const response = await chat(
    gateway,
    { model: "gpt-4o-mini", ...sent },
    {
      headers: {
        authorization: `Bearer ${KEY}`,
        ...(named !== undefined && { "idempotency-key": named }),
      },
    },
  );
  const text = await response.text();
  const [row] = (await rowsOf(gateway, response.headers.get("x-request-id"))) as [Answer["row"]];
  return { status: response.status, text, headers: response.headers, row };
}

/** A prompt and the name of a request that no other test has. */
const fresh = () => {
  serial += 1;
  return {
    sent: { messages: [{ role: "user", content: `Number ${serial} of ${RUN}.` }] },
    name: `repeat-${serial}-${RUN}`,
  };
};
const isReplay = ({ headers }: Answer): boolean => headers.get("idempotent-replayed") === "true";

if (!hasRedis)
  console.info("skipped: two gateways on one Redis, as none answers on 127.0.0.1:6379");

describe.skipIf(!hasRedis)("two gateways on one Redis", () => {
  beforeAll(async () => {
    upstream = await createUpstream();
    [one, other] = await Promise.all([gatewayOnRedis(), gatewayOnRedis()]);
  }, 40_000);
  beforeEach(() => upstream.reset());
  afterAll(async () => {
    await Promise.all([one?.dispose(), other?.dispose()]);
    for (const workspace of workspaces.splice(0)) workspace.remove();
    await upstream?.close();
    const keys = (await adminCommand("KEYS", `${PREFIX}*`)) as readonly string[];
    if (keys.length > 0) await adminCommand("DEL", ...keys);
  });

  it.each([false, true])(
    "give twenty repeats at once the result of one call, billed once; streamed: %s",
    async (stream) => {
      upstream.script({ kind: "reply", delayMs: 200, eventDelayMs: 5 });
      const { sent, name } = fresh();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          ask(index % 2 === 0 ? one : other, { ...sent, stream }, name),
        ),
      );
      expect(upstream.requests).toHaveLength(1);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
      const paid = answers.filter(({ row }) => row?.cache_hit === false);
      expect(paid).toHaveLength(1);
      expect(paid[0]?.row?.spend).toBeGreaterThan(0);
      const free = answers.filter(({ row }) => row?.cache_hit === true && row.spend === 0);
      expect(free.map(({ row }) => row?.total_tokens)).toEqual(
        Array.from({ length: 19 }, () => paid[0]?.row?.total_tokens),
      );
      console.info(
        `two gateways, 20 repeats at once, ${stream ? "streamed" : "whole"}: ${upstream.requests.length} call`,
      );
    },
  );

  it("refuse another body under the name that the other one knows, and let a failure be repeated there", async () => {
    const { sent, name } = fresh();
    upstream.script({ kind: "error", status: 400 });
    expect((await ask(one, sent, name)).status).toBe(400);
    upstream.script({ kind: "reply" });
    const second = await ask(other, sent, name);
    expect([second.status, isReplay(second)]).toEqual([200, false]);
    const third = await ask(one, sent, name);
    expect([third.text, isReplay(third)]).toEqual([second.text, true]);
    expect((await ask(one, { ...sent, temperature: 0 }, name)).status).toBe(409);
    expect(upstream.requests).toHaveLength(2);
  });

  it("answer from each other's entries", async () => {
    const { sent } = fresh();
    const first = await ask(one, { ...sent, caching: true });
    const second = await ask(other, { ...sent, caching: true });
    expect([second.headers.get("x-sluice-cache"), second.text]).toEqual(["hit", first.text]);
    expect(upstream.requests).toHaveLength(1);
  });

  it("share a call among the identical requests of each: one call a gateway at most", async () => {
    upstream.script({ kind: "reply", delayMs: 1_500 });
    const { sent } = fresh();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        ask(index % 2 === 0 ? one : other, { ...sent, caching: true }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(upstream.requests.length).toBeLessThanOrEqual(2);
    console.info(`two gateways, 100 identical at once: ${upstream.requests.length} calls`);
  });

  it("let one key of a team have its part of the slots, and leave the rest to the next key", async () => {
    upstream.script("gpt-4o-mini", ({ parsed }) =>
      parsed?.["user"] === "loud" ? { kind: "hang" } : { kind: "reply" },
    );
    const end = new AbortController();
    const refusals: string[] = [];
    const askAs = (key: string, gateway: GatewayProcess, user: string, signal?: AbortSignal) =>
      chat(
        gateway,
        { model: "gpt-4o-mini", messages: MESSAGES, user },
        { headers: { authorization: `Bearer ${key}` }, ...(signal && { signal }) },
      );
    const flood = (): Promise<unknown> =>
      Promise.allSettled(
        Array.from({ length: 20 }, async (_, index) => {
          const answer = await askAs(LOUD, index % 2 === 0 ? one : other, "loud", end.signal);
          refusals.push(await answer.text());
        }),
      );
    // The key is alone: an eighth of the slots is kept for a key that comes.
    const first = flood();
    await eventually("the first refusals", () => refusals.length === 20 - 7);
    await eventually("the calls at the upstream", () => upstream.requests.length === 7);
    expect(refusals[0]).toContain(`This key may have 7 of the team's limit of ${SLOTS}`);
    // One slot is free. A reply ends before Redis knows that its slot is free again.
    for (let turn = 0; turn < 10; turn += 1) {
      await eventually("the quiet key's slot", async () => {
        const answer = await askAs(QUIET, turn % 2 === 0 ? one : other, "quiet");
        await answer.text();
        return answer.status === 200;
      });
    }
    // Both gateways have seen the other key: more than half is refused now, on either.
    const second = flood();
    await eventually("the second refusals", () => refusals.length === 2 * 20 - 7);
    expect(refusals.at(-1)).toContain(`This key may have 4 of the team's limit of ${SLOTS}`);
    end.abort();
    await Promise.all([first, second]);
  });

  it("have never decided alone", () => {
    for (const { stderr } of [one, other]) expect(stderr).not.toContain("shared state is away");
  });
});
