/**
 * Fallbacks and retries on every face, between the native lane and its bridges: the client gets the
 * reply that the answering model gives, as if it had answered alone.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { rowsOf } from "../support/client.ts";
import {
  fourProviders,
  openCompletions,
  PROVIDER_ENVIRONMENT,
  PROVIDERS,
} from "../support/faces/four-providers.ts";
import {
  createScriptedModel,
  type Said,
  type ScriptedModel,
} from "../support/faces/scripted-model.ts";
import {
  askWire,
  steadyText,
  type WireName,
  type WireQuestion,
  type WireReply,
  WIRES,
} from "../support/faces/wires.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

type Provider = (typeof PROVIDERS)[number];

/** The provider whose dialect a client speaks, and one of another. */
const OWN: Readonly<Partial<Record<WireName, Provider>>> = {
  messages: "anthropic",
  gemini: "gemini",
};
const pairsOf = (wire: WireName): readonly (readonly [Provider, Provider])[] => {
  const own = OWN[wire] ?? "openai";
  const other = own === "anthropic" ? "openai" : "anthropic";
  return [
    [own, other],
    [other, own],
  ];
};
const CASES = WIRES.flatMap((wire) =>
  pairsOf(wire).flatMap(([from, to]) =>
    [false, true].map((stream) => [wire, from, to, stream] as const),
  ),
);

const SAID: Said = {
  thought: "Hm, hm.",
  text: "Words of the second.",
  piece: 5,
};
/** Failures before the first content, by what the first upstream says. */
const FAILURES: readonly { name: string; said: Said; only?: "whole" | "streamed" }[] = [
  { name: "429", said: { failure: { status: 429 } } },
  { name: "500", said: { failure: { status: 500 } } },
  { name: "529", said: { failure: { status: 529 } } },
  { name: "a cut connection", said: { text: "x", cutAfter: 0 } },
  { name: "silence", said: { isSilent: true }, only: "whole" },
  {
    name: "a cut before content",
    said: { text: "word word", piece: 5, cutBefore: "word" },
    only: "streamed",
  },
  {
    name: "silence before content",
    said: { text: "word word", piece: 5, silentBefore: "word" },
    only: "streamed",
  },
];

let model: ScriptedModel;
let gateway: GatewayProcess;

beforeAll(async () => {
  model = await createScriptedModel();
  const four = fourProviders(model.url, "price: { input: 1, output: 10 }");
  const targetOf = (provider: Provider): string =>
    /targets: \[(.*)\]/.exec(four.models[PROVIDERS.indexOf(provider)] ?? "")?.[1] ?? "";
  const pairs = PROVIDERS.flatMap((from) =>
    PROVIDERS.filter((to) => to !== from).flatMap((to) => [
      `{ id: ${from}-to-${to}, targets: [${targetOf(from)}], fallbacks: { general: [${to}] } }`,
      // A deployment for each test: failures of one do not eject that of another.
      `{ id: "${from}-and-${to}/*", balance: priority, targets: [{ provider: ${from}, model: "*", price: { input: 1, output: 10 } }, ${targetOf(to).replace(/ \}$/, ", priority: 1 }")}] }`,
    ]),
  );
  const limits = "timeouts: { first_byte: 500ms, idle: 300ms }";
  const workspace = createWorkspace({
    ...four,
    provider: limits,
    providers: four.providers?.map((line) => line.replace(/ \}$/, `, ${limits} }`)) ?? [],
    models: [...four.models, ...pairs],
  });
  openCompletions(workspace);
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
beforeEach(() => model.says(SAID));
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await model?.close();
});

/** The provider that a request has reached. */
function reached(url: string): Provider {
  if (url.includes("/v1/messages")) return "anthropic";
  if (url.includes("enerateContent")) return "gemini";
  return url.includes("/converse") ? "bedrock" : "openai";
}

/** The first one fails as it is said, the other one answers. */
function failing(from: Provider, failure: Said): void {
  model.saysTo(({ url }) => (reached(url) === from ? failure : SAID));
}

const callsSince = (count: number): readonly Provider[] =>
  model.requests.slice(count).map(({ url }) => reached(url));

/** The reply, with the models' ids made alike. */
function shown({ raw }: WireReply, ...models: readonly string[]): string {
  let text = steadyText(raw);
  for (const name of models) text = text.replaceAll(`"${name}"`, '"MODEL"');
  return text;
}

describe.each(CASES)("%s from %s to %s, streamed: %s", (wire, from, to, stream) => {
  const ask = (id: string, more: Partial<WireQuestion> = {}): Promise<WireReply> =>
    askWire(gateway, wire, { model: id, stream, ...more });

  const form = stream ? "streamed" : "whole";
  it.each(FAILURES.filter(({ only = form }) => only === form))(
    "after $name the fallback answers, as if it had been asked",
    async ({ said }) => {
      const direct = await ask(to);
      failing(from, said);
      const calls = model.requests.length;
      const reply = await ask(`${from}-to-${to}`);
      expect([reply.status, reply.end, callsSince(calls)]).toEqual([200, "whole", [from, to]]);
      const models = [to, `${from}-to-${to}`];
      expect(shown(reply, ...models)).toBe(shown(direct, ...models));
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        "x-sluice-fallbacks": "1",
        "x-sluice-attempts": "2",
        "x-sluice-model": to,
        "x-sluice-provider": to,
      });
      const rows = await rowsOf(gateway, reply.headers.get("x-request-id"));
      expect(rows.toSorted((a, b) => a.attempt - b.attempt)).toMatchObject([
        { attempt: 1, status: "failure", model_group: `${from}-to-${to}` },
        { attempt: 2, status: "success", model_group: to },
      ]);
    },
  );

  it("another target of the same model answers", async () => {
    const direct = await ask(to);
    failing(from, { failure: { status: 529 } });
    const calls = model.requests.length;
    const id = `${from}-and-${to}/${wire}-${form}`;
    const reply = await ask(id);
    expect([reply.status, reply.end, callsSince(calls)]).toEqual([200, "whole", [from, to]]);
    const models = [to, id];
    expect(shown(reply, ...models)).toBe(shown(direct, ...models));
  });

  it("when both fail, the first error stays, with the shortest wait", async () => {
    model.saysTo(({ url }) => ({
      failure: { status: 429, headers: { "retry-after": reached(url) === from ? "60" : "40" } },
    }));
    const reply = await ask(`${from}-to-${to}`);
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([429, "40"]);
    const alone = await ask(from);
    expect(reply.error?.kind).toBe(alone.error?.kind);
  });

  it("is not asked when the request switches it off, or is at fault itself", async () => {
    failing(from, { failure: { status: 500 } });
    const calls = model.requests.length;
    const off = await ask(`${from}-to-${to}`, { more: { fallbacks: [] } });
    failing(from, { failure: { status: 400 } });
    const fault = await ask(`${from}-to-${to}`);
    expect([off.status, fault.status, callsSince(calls)]).toEqual([502, 400, [from, from]]);
  });

  it.runIf(stream)("is not asked after the first content: one error ends the stream", async () => {
    failing(from, { text: "sun, two, six, zip.", piece: 5, cutBefore: "six," });
    const calls = model.requests.length;
    const reply = await ask(`${from}-to-${to}`);
    expect([reply.status, reply.end, reply.text, callsSince(calls)]).toEqual([
      200,
      "failed",
      "sun, two, ",
      [from],
    ]);
    const rows = await rowsOf(gateway, reply.headers.get("x-request-id"));
    expect(rows).toMatchObject([
      {
        attempt: 1,
        status: "partial",
        error_code: "upstream_unreachable",
        usage_source: "estimated",
      },
    ]);
    expect(rows[0]?.spend).toBeGreaterThan(0);
  });
});

describe("the native lane in a fallback", () => {
  const asked = { stream: false, more: { service_tier: "standard_only" } };
  const bodies = (from: number): readonly unknown[] =>
    model.requests.slice(from).map(({ body }) => JSON.parse(body.toString()) as unknown);

  it("gets the client's document, whichever target is called before it", async () => {
    const calls = model.requests.length;
    await askWire(gateway, "messages", { model: "anthropic", ...asked });
    failing("openai", { failure: { status: 500 } });
    await askWire(gateway, "messages", { model: "openai-to-anthropic", ...asked });
    const [direct, translated, lane] = bodies(calls);
    expect(direct).toMatchObject({ service_tier: "standard_only" });
    expect(lane).toEqual(direct);
    expect(translated).toHaveProperty("max_completion_tokens");
  });

  it("leaves a part of its own dialect alone: the other provider is not called with less", async () => {
    const webSearch = { type: "web_search_20250305", name: "web_search" };
    failing("anthropic", { failure: { status: 529 } });
    const calls = model.requests.length;
    const reply = await askWire(gateway, "messages", {
      model: "anthropic-to-openai",
      more: { tools: [webSearch] },
    });
    expect(callsSince(calls)).toEqual(["anthropic"]);
    expect([reply.status, reply.error?.kind]).toEqual([529, "overloaded_error"]);
  });
});
