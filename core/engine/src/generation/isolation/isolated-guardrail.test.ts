import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeHost } from "@sluice/testing";
import { Secret, type TextContext, type Verdict } from "@sluice/contract";
import type { GuardrailUseSettings } from "../../config/snapshot.ts";
import { SharedPool } from "../../resources/shared-pool.ts";
import { IsolatedGuardrail } from "./isolated-guardrail.ts";
import { packOptions, unpackOptions } from "./message.ts";

const MODULE = new URL("./isolated.fixture.ts", import.meta.url).href;
const context: TextContext = {
  exchange: "x",
  operation: "chat",
  model: "m",
  direction: "input",
  part: "user",
  place: "p",
  isPartial: false,
  offset: 0,
};

let shared: SharedPool;
let keys: string[];

function make(
  options: Readonly<Record<string, unknown>> = {},
  budgetMs = 1_000,
  threads = 1,
  definition = "isolated",
): IsolatedGuardrail {
  const settings = {
    defaultOn: false,
    mode: "enforce",
    onError: "fail",
    budgetMs,
    isolation: "worker",
  } as const;
  const at = { file: "gateway.yaml", line: 1, column: 1 };
  const use: GuardrailUseSettings = {
    name: "g",
    use: "isolated",
    options,
    at,
    settings,
    onlyNamed: false,
    worker: { threads, heapBytes: 64 * 2 ** 20 },
  };
  const host = fakeHost({
    shared: (key, create) => {
      keys.push(key);
      return shared.acquire(key, create);
    },
  });
  return new IsolatedGuardrail({
    use,
    url: MODULE,
    definition,
    host,
    fault: (what) => new Error(what),
  });
}

async function started(...made: IsolatedGuardrail[]): Promise<IsolatedGuardrail> {
  for (const one of made) await one.start(AbortSignal.timeout(10_000));
  return made[0]!;
}

const ask = (
  guardrail: IsolatedGuardrail,
  text: string,
  signal = AbortSignal.timeout(10_000),
): Promise<Verdict> => guardrail.check(text, signal, context);

beforeEach(() => {
  shared = new SharedPool();
  keys = [];
});
afterEach(async () => {
  for (const key of keys) await shared.release(key);
});

describe("an isolated guardrail", () => {
  it("knows its reach once it has started, and judges in another thread", async () => {
    const guardrail = await started(make());
    expect([guardrail.reach, guardrail.admit]).toEqual([7, undefined]);
    expect(await ask(guardrail, "x")).toEqual({
      kind: "block",
      reason: expect.stringMatching(/^thread-[1-9]/) as string,
    });
    const startedMs = performance.now();
    for (let count = 0; count < 1_000; count++) await ask(guardrail, "x".repeat(1_000));
    // oxlint-disable-next-line no-console -- a figure for the person that runs the suite.
    console.info(
      `isolation: ${(performance.now() - startedMs).toFixed(0)} µs a judgement of 1,000 characters`,
    );
  });

  it("shares its threads with an equal one of the next generation, and no secret is in their name", async () => {
    const options = { key: new Secret("KEY", "sk-of-no-key") };
    const [first, second, other] = [
      make(options),
      make({ ...options }),
      make({ key: new Secret("KEY", "sk-of-another") }),
    ];
    await started(first, second, other);
    expect(await ask(first, "x")).toEqual(await ask(second, "x"));
    expect(await ask(other, "x")).not.toEqual(await ask(first, "x"));
    expect(keys.join()).not.toContain("sk-of");
  });

  it("keeps its thread when the asker leaves, or a promise never settles; not when it computes for ever", async () => {
    const guardrail = await started(make({}, 150));
    const before = await ask(guardrail, "x");
    const controller = new AbortController();
    const left = ask(guardrail, "busy", controller.signal);
    setImmediate(() => controller.abort(new Error("gone")));
    await left.catch(() => undefined);
    await expect(ask(guardrail, "wait")).rejects.toMatchObject({ name: "TimeoutError" });
    expect(await ask(guardrail, "x")).toEqual(before);
    await expect(ask(guardrail, "loop")).rejects.toThrow(
      "An isolated guardrail returned no verdict.",
    );
    const { reason } = (await ask(await started(make({}, 5_000)), "x")) as {
      readonly reason: string;
    };
    expect(reason).not.toBe((before as { readonly reason: string }).reason);
  });

  it("is refused when its module does not have it", async () => {
    await expect(started(make({}, 1_000, 1, "other"))).rejects.toThrow(
      "is not what its module exports in a worker",
    );
  });
});

it("options go over with their secrets, wherever they stand", () => {
  const options = { a: 1, list: [{ key: new Secret("K", "v") }, "x"], none: null };
  const packed = structuredClone(packOptions(options));
  expect(JSON.stringify(packed.plain)).not.toContain('"v"');
  const { list } = unpackOptions(packed) as { list: [{ key: Secret }, string] };
  expect(list[0].key.reveal()).toBe("v");
  expect(unpackOptions(packed)).toMatchObject({ a: 1, none: null });
});
