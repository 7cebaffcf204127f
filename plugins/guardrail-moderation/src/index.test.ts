import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { fakeHost, guardrailContract } from "@sluice/testing";
import { type Guardrail, Secret, type TextContext, type Verdict } from "@sluice/contract";
import moderation from "./index.ts";
import { readResults } from "./verdicts.ts";

interface Call {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly input: readonly string[] };
}

let calls: Call[] = [];
let answer:
  | ((call: Call) => {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body: string;
    })
  | undefined;

/**
 * Flags texts with the word "kill". The shape is that of POST /v1/moderations of the OpenAI API
 * reference.
 */
const server: Server = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  request.on("end", () => {
    const call = {
      url: request.url,
      headers: request.headers,
      body: JSON.parse(text) as Call["body"],
    };
    calls.push(call);
    const results = call.body.input.map((input) => {
      const flagged = input.includes("kill");
      const categories = { violence: flagged, "harassment/threatening": flagged, sexual: false };
      const scores = {
        violence: flagged ? 0.9 : 0.1,
        "harassment/threatening": flagged ? 0.8 : 0,
        sexual: 0.3,
      };
      return { flagged, categories, category_scores: scores };
    });
    const {
      status = 200,
      headers = {},
      body,
    } = answer?.(call) ?? { body: JSON.stringify({ id: "modr-1", model: "m", results }) };
    response.writeHead(status, headers).end(body);
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const port = (server.address() as AddressInfo).port;
afterAll(() => void server.close());
beforeEach(() => {
  calls = [];
  answer = undefined;
});

const DEFAULTS = {
  base_url: `http://127.0.0.1:${port}/v1`,
  model: "omni",
  thresholds: {},
  batch: 32,
  piece: 30_000,
  remember: 10,
  timeout: "2s",
  sample: "I will kill you",
};
const context: TextContext = {
  exchange: "x1",
  operation: "chat",
  model: "m",
  direction: "input",
  part: "user",
  place: "p",
  isPartial: false,
  offset: 0,
};
const make = (more: object = {}): Guardrail =>
  moderation.create({ ...DEFAULTS, ...more }, fakeHost());
const check = async (guardrail: Guardrail, text: string, exchange = "x1"): Promise<Verdict> =>
  guardrail.check(text, AbortSignal.timeout(5_000), { ...context, exchange });

describe("a moderation endpoint", () => {
  it("is asked with the operator's key alone, and its categories are the reason", async () => {
    const guardrail = make({ api_key: new Secret("KEY", "sk-mod") });
    expect(await check(guardrail, "I will kill you")).toEqual({
      kind: "block",
      reason: "moderation/violence",
    });
    expect(await check(guardrail, "hello")).toEqual({ kind: "allow" });
    expect(calls[0]).toMatchObject({
      url: "/v1/moderations",
      body: { model: "omni", input: ["I will kill you"] },
      headers: { authorization: "Bearer sk-mod" },
    });
  });

  it("is asked once about the texts of one exchange, and apart from those of another", async () => {
    const guardrail = make({ batch: 3 });
    const texts = ["a", "b", "kill", "c"];
    const verdicts = await Promise.all([
      ...texts.map((text) => check(guardrail, text)),
      check(guardrail, "d", "x2"),
    ]);
    expect(verdicts.map(({ kind }) => kind)).toEqual(["allow", "allow", "block", "allow", "allow"]);
    expect(calls.map(({ body }) => body.input).toSorted()).toEqual([
      ["a", "b", "kill"],
      ["c"],
      ["d"],
    ]);
  });

  it("is not asked again about a text, within the bound of the memory", async () => {
    const guardrail = make({ remember: 2 });
    for (const text of ["kill", "a", "kill", "b", "kill", "a"]) await check(guardrail, text);
    expect(calls.flatMap(({ body }) => body.input)).toEqual(["kill", "a", "b", "a"]);
    expect((await check(guardrail, "kill")).kind).toBe("block");
  });

  it("judges a long text in pieces that overlap", async () => {
    expect(
      (await check(make({ piece: 1_000 }), `${"a ".repeat(498)}kill${" b".repeat(600)}`)).kind,
    ).toBe("block");
    expect(calls[0]!.body.input.map((text) => text.length)).toEqual([1000, 1000, 600]);
    expect(calls[0]!.body.input.filter((text) => text.includes("kill"))).toHaveLength(2);
  });

  it("is overruled by categories and thresholds", async () => {
    expect((await check(make({ categories: ["sexual"] }), "kill")).kind).toBe("allow");
    expect(await check(make({ thresholds: { sexual: 0.3 } }), "hello")).toEqual({
      kind: "block",
      reason: "moderation/sexual",
    });
    expect(
      (await check(make({ thresholds: { violence: 0.95 }, categories: ["violence"] }), "kill"))
        .kind,
    ).toBe("allow");
  });

  it.each([
    ["Status500", { status: 500, body: "the text was: secret" }],
    ["Status302", { status: 302, headers: { location: "http://169.254.169.254/" }, body: "" }],
    ["NoJson", { body: "<html>" }],
    ["TypeError", { body: '{"results":[]}' }],
    ["TypeError", { body: '{"results":[{"flagged":true}]}' }],
    ["GatewayError", { body: JSON.stringify({ results: "x".repeat(2_000_000) }) }],
  ])("that fails is an error, and nothing of what it said: %s", async (name, body) => {
    answer = () => body;
    const error = await check(make(), "hello").catch((caught: unknown) => caught as Error);
    expect(error).toMatchObject({ name });
    expect(String((error as Error).message)).not.toContain("secret");
    expect(calls).toHaveLength(1);
  });

  it("that is slow is left, at its own deadline or at the judgement's", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = createServer(() => gate.resolve());
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const base_url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/v1`;
    await expect(check(make({ base_url, timeout: "60ms" }), "hello")).rejects.toMatchObject({
      code: "upstream_timeout",
    });
    const controller = new AbortController();
    const judged = make({ base_url }).check(
      "hello",
      controller.signal,
      context,
    ) as Promise<Verdict>;
    await gate.promise;
    controller.abort(new Error("over"));
    await expect(judged).rejects.toThrow("over");
    slow.closeAllConnections();
    slow.close();
  });
});

it("a score that is missing where it is to be weighed is no verdict", () => {
  expect(() =>
    readResults({ results: [{ categories: { violence: false } }] }, 1, {
      thresholds: { violence: 0.5 },
    }),
  ).toThrow(TypeError);
});

guardrailContract(
  moderation,
  // oxlint-disable-next-line no-console -- the report is for the person that runs the suite.
  { config: DEFAULTS, denied: ["I will kill you"], allowed: ["hello"], report: console.info },
  { describe, it },
);
