import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkConfig } from "../check-config.ts";
import { overlaidSource } from "../config/files/source.ts";
import { coverageOf } from "./coverage.ts";
import { lintsOf, policyFindings } from "./lint.ts";

const repository = join(import.meta.dirname, "../../../..");
const GATEWAY = join(repository, "config/gateway.yaml");
const ENVIRONMENT = { REDIS_URL: "redis://127.0.0.1:6379" };
const CHAT = join(repository, "pipelines/chat.yaml");

/** The shipped configuration with an edit of its gateway file and of chat.yaml. */
async function edited(
  gateway: (text: string) => string,
  chat: (text: string) => string = (text) => text,
) {
  const texts = [
    [GATEWAY, gateway(readFileSync(GATEWAY, "utf8"))],
    [CHAT, chat(readFileSync(CHAT, "utf8"))],
  ] as const;
  const source = overlaidSource(new Map(texts));
  const checked = await checkConfig({
    path: "config/gateway.yaml",
    cwd: repository,
    environment: ENVIRONMENT,
    source,
  });
  return { ...checked, texts: new Map<string, string>(texts) };
}

/** The configuration with these lines in the place of the shipped models. */
const models = (...lines: readonly string[]) => {
  return (text: string): string =>
    text.replace(
      /^models:\n[^]*?(?=^end_of_config)/m,
      `models:\n${lines.map((line) => `  - ${line}\n`).join("")}`,
    );
};

async function lints(...parts: Parameters<typeof edited>) {
  const { snapshot, definitions, findings, texts } = await edited(...parts);
  if (snapshot === undefined) throw new Error(JSON.stringify(findings));
  return lintsOf(snapshot, definitions).map(({ rule, severity, at, message }) => {
    const text = texts.get(join(repository, at.file)) ?? "";
    return { rule, severity, message, line: text.split("\n")[at.line - 1]?.trim() };
  });
}

const drop = (step: string) => (text: string) =>
  text.replace(new RegExp(`^ +- ${step}\\b.*\\n`, "m"), "");
const move = (step: string, behind: string) => (text: string) =>
  drop(step)(text).replace(
    new RegExp(`^( +- )${behind}\\b.*\\n`, "m"),
    (found, dash: string) => `${found}${dash}${step}\n`,
  );

const ECHO = "{ id: echo, targets: [{ provider: echo, model: echo }] }";

it("the shipped configuration raises no lint", async () => {
  expect(await lints((text) => text)).toEqual([]);
});

describe("step_order", () => {
  it("reports guardrails behind steps that call again", async () => {
    const found = await lints(
      (text) => text,
      (text) => move("guardrails", "retry")(drop("\\{ use: cache")(text)),
    );
    expect(found.map(({ rule, line }) => [rule, line])).toEqual(
      Array.from({ length: 3 }, () => ["step_order", "- guardrails"]),
    );
    expect(found[0]?.message).toMatch(
      /^Step guardrails comes after fallback: guardrails check the request again/,
    );
  });

  it("reports limits behind guardrails", async () => {
    const found = await lints((text) => text, move("limits", "guardrails"));
    expect(found.map(({ message }) => message)).toEqual([
      "Step limits comes after guardrails: guardrails check requests that the limits then refuse.",
    ]);
  });
});

describe("uncovered_route", () => {
  it("names the pipeline that lacks what another one has", async () => {
    const [found, ...others] = await lints((text) => text, drop("limits"));
    expect(others).toEqual([]);
    expect(found).toMatchObject({ rule: "uncovered_route", severity: "warn" });
    expect(found?.message).toMatch(
      /^The routes of pipeline chat have no limits, and pipeline embeddings has it\.$/,
    );
    expect(found?.line).toBe("- POST /v1/chat/completions");
  });
});

describe("fallback_capability", () => {
  const chain = (fallback: string) =>
    models(
      "{ id: gpt-4o, targets: [{ provider: openai, model: gpt-4o }], fallbacks: { general: [other] } }",
      fallback,
    );

  it("names all that a fallback lacks by its `info`", async () => {
    const info =
      "info: { supports_function_calling: false, supports_vision: false, max_input_tokens: 8192 }";
    const [found, ...others] = await lints(
      chain(`{ id: other, targets: [{ provider: openai, model: gpt-4o-mini }], ${info} }`),
    );
    expect(others).toEqual([]);
    expect(found?.message).toBe(
      "The fallback other of the model gpt-4o lacks: tool calls; images in the prompt; context (it has 8192 tokens, the model 128000).",
    );
    expect(found?.line).toContain("id: gpt-4o,");
  });

  it("is silent on an equal, and on unknown abilities", async () => {
    expect(
      await lints(chain("{ id: other, targets: [{ provider: openai, model: gpt-4o-mini }] }")),
    ).toEqual([]);
  });

  it("wants a longer context of those that are for long prompts", async () => {
    const found = await lints(
      models(
        "{ id: gpt-4o, targets: [{ provider: openai, model: gpt-4o }], fallbacks: { context_window: [other] } }",
        "{ id: other, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      ),
    );
    expect(found[0]?.message).toContain(
      "a longer context (it has 128000 tokens, the model 128000)",
    );
  });
});

describe("narrow_connections", () => {
  it.each([
    ["400", 0],
    ["399", 1],
  ])(
    "reports a provider with %s connections where 2,000 requests are admitted: %i",
    async (connections, count) => {
      const found = await lints((text) =>
        text.replace("{ use: echo }", `{ use: echo, connections: ${connections} }`),
      );
      expect(found.filter(({ rule }) => rule === "narrow_connections")).toHaveLength(count);
    },
  );
});

describe("unkept_reply", () => {
  const MEMORY = /^shared: \{ use: memory \}/m;
  const cacheOf = (entry: string) => (text: string) =>
    text.replace("scope: key }", `scope: key, max_entry: ${entry} }`);

  it.each([
    ["4mb", "", 0],
    ["5mb", "", 1],
    ["5mb", ", max_entry: 5mb", 0],
    ["5mb", ", max_entry: 5mb, cache_size: 2mb", 1],
  ])(
    "reports a cache step whose entries of %s are beyond the driver's: %j",
    async (entry, options, count) => {
      const found = await lints(
        (text) => text.replace(MEMORY, `shared: { use: memory${options} }`),
        cacheOf(entry),
      );
      expect(found.map(({ rule, line }) => [rule, line?.startsWith("- { use: cache")])).toEqual(
        Array.from({ length: count }, () => ["unkept_reply", true]),
      );
    },
  );

  it("reports it for every driver that declares its largest entry", async () => {
    const redis = 'shared: { use: redis, url: "${env:REDIS_URL}", max_entry: 64kb }';
    const found = await lints((text) => text.replace(MEMORY, redis), cacheOf("1mb"));
    expect(found.map(({ message }) => message)).toEqual([
      "Step responses of pipeline chat stores replies of up to 2097152 bytes, but `shared` (redis) accepts at most 65536.",
      "Step cache of pipeline chat stores replies of up to 1048576 bytes, but `shared` (redis) accepts at most 65536.",
      "Step cache of pipeline embeddings stores replies of up to 1048576 bytes, but `shared` (redis) accepts at most 65536.",
    ]);
  });
});

describe("unreachable_fallback", () => {
  const spare = (lists: string, target = "echo, model: echo") =>
    models(
      `{ id: m, targets: [{ provider: ${target} }], fallbacks: ${lists} }`,
      ...["a", "b", "c"].map((id) => `{ id: ${id}, targets: [{ provider: echo, model: ${id} }] }`),
    );
  const withStep = (options: string) => (text: string) =>
    text.replace(/^( +- )fallback\b.*$/m, `$1{ use: fallback, with: ${options} }`);

  it.each<[string, string, (text: string) => string, RegExp]>([
    [
      "without the step",
      "{ general: [a] }",
      drop("fallback"),
      /Pipeline chat never uses the fallbacks of the model m: it has no step/,
    ],
    [
      "beyond `max`",
      "{ general: [a, b, c] }",
      (text) => text,
      /the fallbacks c of the model m for general.*`max`.* is 2/,
    ],
    [
      "with `max: 0`",
      "{ general: [a] }",
      withStep("{ max: 0 }"),
      /`max` of its step fallback is 0/,
    ],
    [
      "of a class that is left out",
      "{ context_window: [a] }",
      withStep("{ classes: [general] }"),
      /never uses the fallbacks of the model m for context_window/,
    ],
    [
      "after a silence",
      "{ general: [a] }",
      (text) => text.replace("deadline: 600s", "deadline: 30s"),
      /after a timeout of echo/,
    ],
  ])("reports a fallback %s (V2)", async (_what, lists, chat, said) => {
    const found = (await lints(spare(lists), chat)).filter(
      ({ rule }) => rule === "unreachable_fallback",
    );
    expect(found.map(({ message }) => message)).toEqual([expect.stringMatching(said)]);
  });

  it("says nothing of a part of general, and whatever `max_attempts` is", async () => {
    const chat = withStep("{ classes: [general], max_attempts: 1 }");
    const found = await lints(spare("{ general: [a, b], timeout: [c] }"), chat);
    expect(found.filter(({ rule }) => rule === "unreachable_fallback")).toEqual([]);
  });
});

describe("untagged_requests", () => {
  const two = (tags: string) =>
    models(
      `{ id: m, targets: [{ provider: openai, model: gpt-4o, tags: [paid] }, { provider: openai, model: gpt-4o-mini${tags} }] }`,
    );

  it("reports tagged targets of which none is the default", async () => {
    expect(await lints(two(""))).toMatchObject([{ rule: "untagged_requests", severity: "warn" }]);
    expect(await lints(two(", tags: [default]"))).toEqual([]);
  });
});

describe("unreachable_target", () => {
  const two = (members: string, first = "", second = "") =>
    models(
      `{ id: m, ${members} targets: [{ provider: openai, model: gpt-4o${first} }, { provider: openai, model: gpt-4o-mini${second} }] }`,
    );

  it.each([
    [
      "the same target twice",
      models(
        "{ id: m, targets: [{ provider: echo, model: echo }, { provider: echo, model: echo }] }",
      ),
      /occurs twice/,
    ],
    [
      "priorities that the strategy ignores",
      two("", ", priority: 1", ", priority: 2"),
      /priorities of the model m have no effect.*weighted/,
    ],
    ["weights that are all 0", two("", ", weight: 0", ", weight: 0"), /has the weight 0/],
  ])("tells %s", async (_what, gateway, said) => {
    const found = await lints(gateway);
    expect(found.map(({ rule }) => rule)).toEqual(["unreachable_target"]);
    expect(found[0]?.message).toMatch(said);
  });

  it("is silent on priorities with an effect, and on a target of last resort", async () => {
    expect(await lints(two("balance: priority,", ", priority: 1", ", priority: 2"))).toEqual([]);
    expect(await lints(two("", "", ", weight: 0"))).toEqual([]);
  });

  it("reports targets that no step chooses", async () => {
    const found = await lints(two(""), drop("balance"));
    expect(found.map(({ message }) => message)).toEqual([
      "Pipeline chat calls only the first target of the model m: it has no step balance.",
    ]);
  });
});

describe("policies", () => {
  const UNPRICED = models(ECHO, "{ id: m, targets: [{ provider: openai, model: my-own-model }] }");
  const policies = (text: string) => (gateway: string) =>
    UNPRICED(gateway).replace(/^end_of_config/m, `policies: ${text}\nend_of_config`);

  it("leave a lint the warning that it is", async () => {
    expect(await lints(UNPRICED)).toMatchObject([{ rule: "unpriced_model", severity: "warn" }]);
  });

  it("switch it off", async () => {
    expect(await lints(policies("{ lints: { unpriced_model: off } }"))).toEqual([]);
  });

  it("make it a finding, which refuses the configuration", async () => {
    const { snapshot, findings } = await edited(policies("{ lints: { unpriced_model: error } }"));
    expect(snapshot).toBeUndefined();
    expect(findings).toHaveLength(1);
    expect(findings[0]?.message).toMatch(
      /^The price of openai\/my-own-model.* \(unpriced_model\)$/,
    );
    expect(findings[0]?.at.file).toBe("config/gateway.yaml");
  });

  it("want of every route that calls upstreams what they say", async () => {
    const { findings } = await edited(
      policies("{ require: [limits, guardrails_in] }"),
      drop("limits"),
    );
    const pipelines = findings.map(({ message }) =>
      /pipeline (\S+) have no (\w+)/.exec(message)?.slice(1),
    );
    expect(pipelines).toEqual([
      ["chat", "limits"],
      ["chat", "guardrail"],
      ["embeddings", "guardrail"],
      ["images", "guardrail"],
      ["passthrough", "guardrail"],
    ]);
  });

  it("refuse names that they do not know", async () => {
    const { findings } = await edited(policies("{ lints: { unpriced_modle: error } }"));
    expect(findings.map(({ message }) => message).join()).toContain("unpriced_modle");
  });

  it("cost nothing where there are none", async () => {
    const { snapshot, definitions } = await edited((text) => text);
    expect(snapshot === undefined ? undefined : policyFindings(snapshot, definitions)).toEqual([]);
  });
});

describe("coverage", () => {
  it("has a line for every route with what protects it", async () => {
    const { snapshot, definitions } = await edited((text) => text, drop("limits"));
    if (snapshot === undefined) throw new Error("no snapshot");
    const coverage = coverageOf({ snapshot, definitions });
    expect(coverage).toHaveLength(snapshot.pipelines.flatMap(({ routes }) => routes).length);
    const of = (route: string) => coverage.find((line) => line.route === route);
    expect(of("POST /v1/chat/completions")).toMatchObject({
      auth: true,
      limits: false,
      budget: false,
      cost: true,
      streams: true,
    });
    expect(of("POST /v1/embeddings")).toMatchObject({
      limits: true,
      budget: true,
      streams: false,
      guardrailsIn: [],
    });
    expect(of("GET /v1/models")).toMatchObject({ auth: true, cost: false, deadlineMs: 600_000 });
  });
});
