import { describe, expect, it } from "vitest";
import type { Exchange, Host, Identity, Model } from "@sluice/contract";
import {
  fakeClient,
  fakeExchange,
  fakeHost,
  fakeIdentity,
  fakeRequest,
  runStep,
} from "@sluice/testing";
import { auth } from "./index.ts";

const identity = fakeIdentity();
const model: Model = {
  id: "open",
  entry: "open",
  mode: "chat",
  targets: [{ id: "echo/e", provider: "echo", model: "e" }],
  accessGroups: [],
  ownedBy: "echo",
};
const secret: Model = { ...model, id: "closed", entry: "closed" };

/** Knows the key `sk-good`, at once or later; lets it use the model `open`. */
function hostOf(
  headerNames: readonly string[] = ["x-service-api-key", "x-other"],
  isLate = false,
): Host {
  return fakeHost({
    models: { find: (id) => [model, secret].find((one) => one.id === id), list: () => [] },
    authority: {
      headerNames,
      customerHeaders: [],
      customerOf: () => undefined,
      identify(presented): Identity | undefined | Promise<Identity | undefined> {
        const found = presented === "sk-good" ? identity : undefined;
        return isLate ? Promise.resolve(found) : found;
      },
      keyIdOf: async () => undefined,
      foreignTag: () => undefined,
      teamModels: async () => undefined,
      mayUse: (_identity, { id }) => id === "open",
    },
  });
}

interface Outcome {
  readonly exchange: Exchange;
  readonly received: number;
  readonly passed: number;
  readonly error: unknown;
}

async function run(
  headers: Readonly<Record<string, string>>,
  asked: string | undefined = "open",
  host = hostOf(),
): Promise<Outcome> {
  let received = 0;
  let passed = 0;
  const receive = async (): Promise<void> => {
    received++;
    if (asked !== undefined) exchange.request = fakeRequest({ model: asked });
  };
  const exchange = fakeExchange({ client: fakeClient(headers), receive });
  const step = auth.create({}, host);
  const error: unknown = await runStep(step, { exchange }, async () => void passed++).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { exchange, received, passed, error };
}

describe("a good key", () => {
  it.each<[string, Record<string, string>]>([
    ["authorization", { authorization: "Bearer sk-good" }],
    ["authorization in any case", { authorization: "bearer   sk-good " }],
    ["the first named header", { "x-service-api-key": "sk-good" }],
    ["the second named header", { "x-other": "sk-good" }],
    ["a named header with Bearer", { "x-service-api-key": "Bearer sk-good" }],
    ["two headers that agree", { "x-service-api-key": "sk-good", authorization: "Bearer sk-good" }],
  ])("is read from %s", async (_where, headers) => {
    for (const isLate of [false, true]) {
      const { exchange, passed, received } = await run(headers, "open", hostOf(undefined, isLate));
      expect({ passed, received }).toEqual({ passed: 1, received: 1 });
      expect(exchange.identity).toBe(identity);
      expect(exchange.model).toBe(model);
    }
  });

  it("may name a model by its team's name for it, and gets none beyond its lists by that", async () => {
    const modelAliases = { fast: "open", barred: "closed", toString: "open" };
    const host = fakeHost({
      ...hostOf(),
      authority: { ...hostOf().authority, identify: () => ({ ...identity, modelAliases }) },
    });
    const good = { authorization: "Bearer sk-good" };
    const { exchange } = await run(good, "fast", host);
    expect([exchange.model?.id, exchange.request?.model]).toEqual(["open", "open"]);
    expect((await run(good, "barred", host)).error).toMatchObject({ code: "model_not_found" });
    expect((await run(good, "valueOf", host)).error).toMatchObject({ code: "model_not_found" });
  });

  it("passes without a model where there is no body", async () => {
    const exchange = fakeExchange({ client: fakeClient({ authorization: "Bearer sk-good" }) });
    await runStep(auth.create({}, hostOf()), { exchange }, async () => undefined);
    expect(exchange).toMatchObject({ identity, model: undefined });
  });
});

describe("any other key", () => {
  const wrong: [string, Record<string, string>][] = [
    ["nothing", {}],
    ["an unknown key", { authorization: "Bearer sk-bad" }],
    ["an empty key", { authorization: "Bearer " }],
    ["a key without Bearer", { authorization: "sk-good" }],
    ["another scheme", { authorization: "Basic c2stZ29vZA==" }],
    ["two words", { authorization: "Bearer sk-good sk-good" }],
    ["an empty named header", { "x-service-api-key": "" }],
    ["two different keys", { "x-service-api-key": "sk-good", authorization: "Bearer sk-bad" }],
    [
      "two different keys, the good one last",
      { "x-service-api-key": "sk-bad", "x-other": "sk-good" },
    ],
    ["a header that is not named", { "x-api-key": "sk-good" }],
  ];

  it.each(wrong)("is refused: %s", async (_what, headers) => {
    const { error, passed, received, exchange } = await run(headers);
    expect(error).toMatchObject({ code: "authentication_failed", status: 401 });
    expect({ passed, received, identity: exchange.identity }).toEqual({
      passed: 0,
      received: 0,
      identity: undefined,
    });
  });

  it("gets one and the same answer, whatever is wrong with it", async () => {
    const messages = await Promise.all(
      wrong.map(async ([, headers]) => String((await run(headers)).error)),
    );
    expect(new Set(messages).size).toBe(1);
  });
});

describe("a model", () => {
  const headers = { authorization: "Bearer sk-good" };

  it("that the key may not use looks like one that does not exist", async () => {
    const closed = await run(headers, "closed");
    const unknown = await run(headers, "nothere");
    expect(closed.error).toMatchObject({ code: "model_not_found", status: 404, param: "model" });
    expect(unknown.error).toMatchObject({ code: "model_not_found", status: 404, param: "model" });
    expect(String(closed.error).replace("closed", "X")).toBe(
      String(unknown.error).replace("nothere", "X"),
    );
    expect([closed.passed, unknown.passed]).toEqual([0, 0]);
    expect(closed.exchange.model).toBeUndefined();
  });

  it("of a refused request still has its identity, for the row", async () => {
    expect((await run(headers, "closed")).exchange.identity).toBe(identity);
  });

  it("is not repeated at full length", async () => {
    expect(String((await run(headers, "x".repeat(100_000))).error).length).toBeLessThan(300);
  });
});
