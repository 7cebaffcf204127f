/**
 * The terms of stored responses: off, for a time, within bounds, over restarts and two gateways; who
 * gets the reasoning of a deployment; guardrails and limits over a whole conversation.
 */

import { randomBytes } from "node:crypto";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  adminCommand,
  redisAnswers,
  removeKeys,
  runPrefix,
} from "../../../../plugins/shared-redis/src/redis.fixture.ts";
import { createKey, spendRows } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { createScriptedModel, type ScriptedModel } from "../../support/faces/scripted-model.ts";
import {
  DECLARED_KEY,
  DECLARED_KEYS,
  end,
  redisSection,
  sdkOf,
  storedGateway,
} from "../../support/faces/stored-gateway.ts";
import type { GatewayProcess } from "../../support/gateway-process.ts";

const hasRedis = await redisAnswers();
if (!hasRedis)
  process.stdout.write(
    "stored responses: no Redis on 127.0.0.1:6379; the tests of the Redis driver are skipped by name.\n",
  );

let model: ScriptedModel;
const gateways: GatewayProcess[] = [];
const start = async (place?: Parameters<typeof storedGateway>[1]): Promise<GatewayProcess> => {
  const gateway = await storedGateway(model.url, place);
  gateways.push(gateway);
  return gateway;
};

beforeAll(async () => {
  model = await createScriptedModel();
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await end(gateway);
});
afterAll(async () => {
  await model?.close();
  if (hasRedis) await removeKeys();
});

const isStored = async (sdk: OpenAI, id: string): Promise<boolean> => {
  try {
    return (await sdk.responses.retrieve(id)).id === id;
  } catch (error) {
    if (error instanceof OpenAI.NotFoundError) return false;
    throw error;
  }
};

describe("stored responses", () => {
  it("are refused by name where they are off", async () => {
    const sdk = sdkOf(await start({ step: "{ store: off }" }));
    model.says({ text: "Hello." });
    const first = await sdk.responses.create({ model: "openai", input: "Hi.", store: true });
    expect(first).toMatchObject({ store: false });
    expect(await isStored(sdk, first.id)).toBe(false);
    const calls = model.requests.length;
    await expect(
      sdk.responses.create({ model: "openai", input: "More.", previous_response_id: first.id }),
    ).rejects.toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      message: expect.stringContaining("responses are not stored here"),
    });
    await expect(
      sdk.responses.create({ model: "openai", input: "Later.", background: true }),
    ).rejects.toMatchObject({ status: 400, param: "background" });
    expect(model.requests.length).toBe(calls);
  });

  it("end with their time", async () => {
    const sdk = sdkOf(await start({ step: "{ ttl: 1s }" }));
    model.says({ text: "Hello." });
    const { id } = await sdk.responses.create({ model: "openai", input: "Hi." });
    await eventually("the end of its time", async () => !(await isStored(sdk, id)));
    await expect(
      sdk.responses.create({ model: "openai", input: "More.", previous_response_id: id }),
    ).rejects.toMatchObject({ status: 400, param: "previous_response_id" });
  });

  it("that are too large are not claimed, and the oldest of a key give way", async () => {
    const gateway = await start({
      step: "{ max_entry: 16kb, max_per_key: 24kb, max_total: 64kb }",
    });
    const { key } = await createKey(gateway, {});
    const [sdk, other] = [sdkOf(gateway), sdkOf(gateway, key)];
    model.says({ text: "x".repeat(20_000), piece: 5_000 });
    const { data, response } = await sdk.responses
      .create({ model: "openai", input: "Much." })
      .withResponse();
    expect(data).toMatchObject({ store: false, output_text: "x".repeat(20_000) });
    expect(response.headers.get("x-sluice-dropped-params")).toBe("store");
    const streamed = await sdk.responses
      .stream({ model: "openai", input: "Much." })
      .finalResponse();
    expect(streamed).toMatchObject({ store: false });
    expect([await isStored(sdk, data.id), await isStored(sdk, streamed.id)]).toEqual([
      false,
      false,
    ]);

    model.says({ text: "y".repeat(8_000) });
    const foreign = await other.responses.create({ model: "openai", input: "Mine." });
    const ids: string[] = [];
    for (let at = 0; at < 4; at++)
      ids.push((await sdk.responses.create({ model: "openai", input: "Some." })).id);
    expect(await isStored(sdk, ids[0]!)).toBe(false);
    expect(await isStored(sdk, ids[3]!)).toBe(true);
    expect(await isStored(other, foreign.id)).toBe(true);
  });

  it("in memory end with the process", async () => {
    const pepper = randomBytes(32).toString("hex");
    const first = await start({ pepper });
    model.says({ text: "Hello." });
    const { id } = await sdkOf(first).responses.create({ model: "openai", input: "Hi." });
    await first.stop();
    const second = await start({ pepper });
    expect(await isStored(sdkOf(second), id)).toBe(false);
  });

  it.skipIf(!hasRedis)(
    "in Redis outlive the process and serve every gateway with the pepper, encrypted",
    async () => {
      const prefix = runPrefix();
      const sections = redisSection(prefix) + DECLARED_KEYS;
      const pepper = randomBytes(32).toString("hex");
      const [first, second] = [
        await start({ sections, pepper }),
        await start({ sections, pepper }),
      ];
      const another = await start({ sections });
      model.says({ text: "A planted answer." });
      const { id } = await sdkOf(first, DECLARED_KEY).responses.create({
        model: "openai",
        input: "A planted question.",
      });
      const sdk = sdkOf(second, DECLARED_KEY);
      await sdk.responses.create({ model: "openai", input: "More.", previous_response_id: id });
      expect(JSON.stringify(model.lastBody())).toContain("A planted question.");
      await first.stop();
      expect(await isStored(sdk, id)).toBe(true);
      expect(await isStored(sdkOf(another, DECLARED_KEY), id)).toBe(false);
      const keys = (await adminCommand("KEYS", `${prefix}*x:responses:*`)) as string[];
      expect(keys.length).toBeGreaterThan(0);
      for (const key of keys) {
        const bytes = String(await adminCommand("GET", String(key)));
        for (const word of ["planted", "answer", "output_text"]) expect(bytes).not.toContain(word);
      }
    },
  );

  it("give reasoning to the deployment that made it, and to no other", async () => {
    const sdk = sdkOf(await start());
    const thinking = { reasoning: { effort: "low" as const } };
    const pathOf = (at: number): string => model.requests.at(at)?.url.split("?")[0] ?? "";
    for (let round = 0; round < 6; round++) {
      model.says({ thought: "Hm.", text: "Yes." });
      const first = await sdk.responses.create({ model: "two", input: "Well?", ...thinking });
      const made = pathOf(-1);
      await sdk.responses.create({
        model: "two",
        input: "And?",
        previous_response_id: first.id,
        ...thinking,
      });
      expect(pathOf(-1)).toBe(made);
      expect(JSON.stringify(model.lastBody())).toContain('"thinking":"Hm."');
    }
    // A model elsewhere gets the conversation without it.
    model.says({ thought: "Hm.", text: "Yes." });
    const first = await sdk.responses.create({ model: "two", input: "Well?", ...thinking });
    for (const other of ["openai", "bedrock", "gemini"]) {
      await sdk.responses.create({ model: other, input: "And?", previous_response_id: first.id });
      const sent = JSON.stringify(model.lastBody());
      expect(sent).toContain("Yes.");
      expect(sent).not.toContain("Hm.");
      expect(sent).not.toContain("thoughts_of");
    }
    // Where it has failed, the other deployment of the model thinks anew.
    const made = model.requests.findLast(({ url }) => url.includes("/messages"))?.url ?? "";
    const isSecond = made.startsWith("/second");
    model.saysTo(({ url }) =>
      url.startsWith("/second") === isSecond ? { failure: { status: 503 } } : { text: "Anew." },
    );
    const last = await sdk.responses.create({
      model: "two",
      input: "And?",
      previous_response_id: first.id,
    });
    expect(last.output_text).toBe("Anew.");
    expect(pathOf(-1).startsWith("/second")).toBe(!isSecond);
    expect(JSON.stringify(model.lastBody())).not.toContain("Hm.");
  });

  it("count with their whole conversation against limits", async () => {
    const gateway = await start();
    const { key } = await createKey(gateway, { tpm_limit: 3_000 });
    const sdk = sdkOf(gateway, key);
    model.says({ text: "Noted.", usage: [10, 5] });
    const input = "word ".repeat(1_200);
    const ask = (more: object) =>
      sdk.responses.create({ model: "openai", input: "Hi.", max_output_tokens: 50, ...more });
    const first = await ask({ input });
    await ask({ input });
    const calls = model.requests.length;
    await expect(ask({ input, previous_response_id: first.id })).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining("limit of 3000 tokens"),
    });
    expect(model.requests.length).toBe(calls);
  });

  it("count with their whole conversation against the bound of lists and objects", async () => {
    const sdk = sdkOf(await start());
    model.says({ text: "Noted." });
    const messages = (count: number) =>
      Array.from({ length: count }, () => ({ role: "user" as const, content: "x" }));
    const first = await sdk.responses.create({ model: "openai", input: messages(6_000) });
    expect(first).toMatchObject({ store: true });
    const calls = model.requests.length;
    await expect(
      sdk.responses.create({
        model: "openai",
        input: messages(8_000),
        previous_response_id: first.id,
      }),
    ).rejects.toMatchObject({ status: 400, code: "invalid_json" });
    expect(model.requests.length).toBe(calls);
  });

  it("are judged by guardrails with their whole conversation, and are in no log line", async () => {
    const banned = "zqforbiddenzq";
    const list = `{ name: banned, words: [${banned}] }`;
    const gateway = await start({
      sections: `guardrails: { words: { use: words, lists: [${list}] } }
`,
    });
    const sdk = sdkOf(gateway);
    model.says({ text: "Noted." });
    const first = await sdk.responses.create({ model: "openai", input: `It is ${banned}.` });
    const calls = model.requests.length;
    const more = { model: "openai", input: "And?", previous_response_id: first.id };
    await expect(
      sdk.responses.create({ ...more, guardrails: ["words"] } as never),
    ).rejects.toMatchObject({ status: 400, code: "guardrail_violation" });
    expect(model.requests.length).toBe(calls);
    await sdk.responses.create(more);
    expect(JSON.stringify(model.lastBody())).toContain(banned);
    expect(gateway.stdout + gateway.stderr).not.toContain(banned);
    expect(JSON.stringify(await spendRows(gateway, {}))).not.toContain(banned);
  });
});
