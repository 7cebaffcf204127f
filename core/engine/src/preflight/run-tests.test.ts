import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkConfig } from "../check-config.ts";
import { overlaidSource } from "../config/files/source.ts";
import { createLog } from "../telemetry/log.ts";
import { runTests, type TestResult } from "./run-tests.ts";
import { buildAlone } from "./build-alone.ts";

const repository = join(import.meta.dirname, "../../../..");
const chat = join(repository, "pipelines/chat.yaml");
const gatewayFile = join(repository, "config/gateway.yaml");
const HELLO =
  "{ model: sluice-test/a, num_retries: 0, messages: [{ role: user, content: Hello }] }";

/** The tests of a configuration: the shipped one, with tests of its own in chat.yaml. */
async function run(
  tests?: string,
  {
    replace = (text: string) => text,
    environment = {},
    begin = () => new AbortController().signal,
    guardrails = "",
  } = {},
): Promise<readonly TestResult[]> {
  const shipped = readFileSync(chat, "utf8");
  const text =
    tests === undefined
      ? shipped
      : shipped.replace(/^tests:\n[^]*?(?=^end_of_config)/m, `${tests}\n`);
  const gateway = readFileSync(gatewayFile, "utf8").replace(/^models:/m, `${guardrails}\nmodels:`);
  const texts = [
    [chat, replace(text)],
    [gatewayFile, gateway],
  ] as const;
  const source = overlaidSource(new Map(texts));
  const { snapshot, definitions, findings } = await checkConfig({
    path: "config/gateway.yaml",
    cwd: repository,
    environment,
    source,
  });
  if (snapshot === undefined) throw new Error(JSON.stringify(findings));
  const candidate = await buildAlone(snapshot, definitions, createLog("silent"));
  try {
    const subject = { snapshot, definitions, guardrails: candidate.guardrails };
    const signal = begin();
    return await runTests(
      subject,
      tests === undefined ? { signal } : { signal, files: ["pipelines/chat.yaml"] },
    );
  } finally {
    await candidate.drain(0);
  }
}

const messagesOf = (results: readonly TestResult[]): string[] =>
  results.flatMap(({ findings }) => findings.map(({ message }) => message));

/** One test of chat, as a line of flow YAML. */
const one = (members: string): string => `tests:\n  - { name: t, ${members} }`;

describe("the shipped pipelines", () => {
  it.each([{}, { OPENAI_API_KEY: "sk-a", ANTHROPIC_API_KEY: "sk-b" }])(
    "pass their own tests whatever the environment holds: %j",
    async (environment) => {
      const results = await run(undefined, { environment });
      expect(messagesOf(results)).toEqual([]);
      expect(new Set(results.map(({ file }) => file)).size).toBe(10);
    },
  );

  it("fail without the step that a test is about, at its line", async () => {
    const results = await run(undefined, {
      replace: (text) => text.replace(/^ +- fallback\b.*\n/m, ""),
    });
    const [finding] = results.flatMap(({ findings }) => findings);
    expect(finding?.message).toMatch(
      /^The test "another model stands in for one that fails" fails: expected status 200, but 502 upstream_failed \(.*\) came\.$/,
    );
    const text = readFileSync(chat, "utf8").replace(/^ +- fallback\b.*\n/m, "");
    const line = text
      .slice(0, text.indexOf("targets: [sluice-test/a, sluice-test/b]"))
      .split("\n").length;
    expect(finding?.at).toMatchObject({ file: "pipelines/chat.yaml", line });
  });
});

describe("an expectation that does not hold", () => {
  it.each([
    ["status: 201", "expected status 201, but 200 came"],
    ["error: not_found", "expected the error not_found, but 200 came"],
    ["headers: { x-none: a }", "expected x-none: a, but none came"],
    [
      'headers: { content-type: "text/plain" }',
      'expected content-type: text/plain, but "application/json" came',
    ],
    ["headers_lack: [x-request-id]", "expected no header x-request-id, but"],
    [
      'body: { "choices[0].message.content": no }',
      'expected choices[0].message.content = "no", but "yes" came',
    ],
    ["body: { none: 1 }", "expected none = 1, but nothing came"],
    ["body_has: no", 'expected a body with "no", but'],
    ["body_lacks: [zzz, yes]", 'expected a body without "yes", but'],
    ["text: no", 'expected the text "no", but "yes" came'],
    ["targets: [a/b]", "expected calls of [a/b], but they were of [sluice-test/a]"],
    ["upstream_calls: 2", "expected 2 upstream calls, but there was 1"],
    ["upstream_body: { model: b }", 'expected model = "b", but "a" came'],
    ["upstream_body_has: Bye", 'expected an upstream body with "Bye", but there was'],
    ["upstream_body_lacks: Hello", 'expected no upstream body with "Hello", but there was one'],
    ["rows: [failure]", "expected the rows [failure], but they were [success]"],
    ["cost: 1", "expected a cost of $1, but it was $0.00002"],
  ])("%s is reported with the actual value", async (expectation, said) => {
    const results = await run(
      one(`request: ${HELLO}, upstream: [{ reply: yes }], expect: { ${expectation} }`),
    );
    expect(messagesOf(results)).toEqual([expect.stringContaining(`The test "t" fails: ${said}`)]);
  });

  it("is reported with every other one of the test", async () => {
    const results = await run(
      one(`request: ${HELLO}, upstream: [{}], expect: { status: 201, rows: [], cost: 0 }`),
    );
    expect(messagesOf(results)).toHaveLength(3);
  });
});

describe("an upstream", () => {
  const failing = (outcome: string, error: string): Promise<readonly TestResult[]> =>
    run(
      one(
        `request: ${HELLO}, upstream: [${outcome}], expect: { error: ${error}, rows: [failure], upstream_calls: 1 }`,
      ),
    );

  it.each([
    ["{ status: 503 }", "upstream_overloaded"],
    ["{ status: 429 }", "upstream_rate_limited"],
    ["{ status: 400, code: context_length_exceeded }", "context_length_exceeded"],
    ["{ refused: true }", "upstream_unreachable"],
    ["{ silent: true }", "upstream_timeout"],
    ["{ silent_after: 0 }", "upstream_timeout"],
    ["{ cut_after: 0 }", "upstream_unreachable"],
    ["{ body: '<html>' }", "upstream_invalid_response"],
  ])("that does %s is one that fails as %s", async (outcome, error) => {
    expect(messagesOf(await failing(outcome, error))).toEqual([]);
  });

  it("cuts a stream behind its first words", async () => {
    const request = HELLO.replace("{", "{ stream: true,");
    const expected =
      'status: 200, text: "one ", body_has: [error], body_lacks: "[DONE]", rows: [partial]';
    const outcome = '{ chunks: ["one ", two], cut_after: 2 }';
    expect(
      messagesOf(
        await run(one(`request: ${request}, upstream: [${outcome}], expect: { ${expected} }`)),
      ),
    ).toEqual([]);
  });

  it.each(["\\L", "\\P"])("may say %s, which ends no line of an event", async (mark) => {
    const request = HELLO.replace("{", "{ stream: true,");
    const said = `"one${mark}two"`;
    expect(
      messagesOf(
        await run(
          one(`request: ${request}, upstream: [{ reply: ${said} }], expect: { text: ${said} }`),
        ),
      ),
    ).toEqual([]);
  });

  it("is answered for whatever dialect its provider speaks, and its calls are in that dialect", async () => {
    const request =
      "{ model: anthropic/claude-x, max_tokens: 5, messages: [{ role: system, content: S }, { role: user, content: U }] }";
    const expected =
      'text: A, targets: [anthropic/claude-x], upstream_body: { "system[0].text": S, "messages[0].content[0].text": U }';
    expect(
      messagesOf(
        await run(one(`request: ${request}, upstream: [{ reply: A }], expect: { ${expected} }`)),
      ),
    ).toEqual([]);
  });

  it("may answer in its provider's own dialect", async () => {
    const request =
      "{ model: anthropic/claude-x, max_tokens: 5, messages: [{ role: user, content: U }] }";
    const usage = "usage: { input_tokens: 3, output_tokens: 2 }";
    const body = `{ id: m, type: message, role: assistant, model: c, stop_reason: end_turn, content: [{ type: text, text: A }], ${usage} }`;
    const expected = "text: A, body: { usage.total_tokens: 5 }, upstream_calls: 1";
    expect(
      messagesOf(
        await run(
          one(`request: ${request}, upstream: [{ body: ${body} }], expect: { ${expected} }`),
        ),
      ),
    ).toEqual([]);
  });

  it("that needs no network answers by itself, until the test says what it does", async () => {
    const request = "{ model: echo, num_retries: 0, messages: [{ role: user, content: Hello }] }";
    const key = "key: { models: [echo] }";
    const echoed = one(
      `${key}, request: ${request}, expect: { status: 200, text: Hello, upstream_calls: 1, targets: [echo/echo] }`,
    );
    expect(messagesOf(await run(echoed))).toEqual([]);
    const scripted = one(
      `${key}, request: ${request}, upstream: [{ status: 500 }], expect: { status: 502, upstream_calls: 1 }`,
    );
    expect(messagesOf(await run(scripted))).toEqual([]);
  });

  it("that is called more often than the test says fails it, whatever else is expected", async () => {
    const results = await run(one(`request: ${HELLO}, upstream: [], expect: { rows: [failure] }`));
    expect(messagesOf(results)).toEqual([
      'The test "t" fails: there were 1 upstream calls, and `upstream` names 0.',
    ]);
    const silent = await run(one(`request: ${HELLO}, expect: { rows: [failure] }`));
    expect(messagesOf(silent)).toEqual([
      expect.stringContaining("has no `upstream` that says what it answers"),
    ]);
  });
});

describe("a test's key", () => {
  it.each([
    ["none", "error: authentication_failed"],
    ["master", "status: 200"],
    ["{ models: [other] }", "error: model_not_found"],
    ["{ team_id: t, team_models: [other] }", "error: model_not_found"],
    ["{ rpm: 0 }", "status: 429"],
    ["{ max_budget: 0 }", "error: budget_exceeded"],
    ["{ models: [sluice-test/*], rpm: 1 }", "status: 200"],
  ])("%s has what it says: %s", async (key, expected) => {
    const results = await run(
      one(`key: ${key}, request: ${HELLO}, upstream: [{}], expect: { ${expected} }`),
    );
    expect(messagesOf(results)).toEqual([]);
  });

  it("begins with nothing used, in each test", async () => {
    const limited = `{ name: t, key: { rpm: 1 }, request: ${HELLO}, upstream: [{}], expect: { status: 200 } }`;
    expect(messagesOf(await run(`tests:\n  - ${limited}\n  - ${limited}`))).toEqual([]);
  });
});

describe("guardrails", () => {
  it("judge in tests as they do in the gateway", async () => {
    const guardrails =
      "guardrails: { words: { use: words, lists: [{ name: l, words: [Hello], action: block }], default_on: true } }";
    const blocked = one(
      `request: ${HELLO}, upstream: [], expect: { error: guardrail_violation, upstream_calls: 0 }`,
    );
    expect(messagesOf(await run(blocked, { guardrails }))).toEqual([]);
  });

  it("that ask a service are not asked", async () => {
    const guardrails =
      "guardrails: { far: { use: http, url: 'http://127.0.0.1:9/check', sample: bad } }";
    const passing = one(
      `key: { guardrails: [far] }, request: ${HELLO}, upstream: [{}], expect: { status: 200, upstream_calls: 1 }`,
    );
    expect(messagesOf(await run(passing, { guardrails }))).toEqual([]);
  });
});

describe("time", () => {
  it("that a test takes beyond its own fails it", async () => {
    const results = await run(
      one(
        `timeout: 20ms, request: ${HELLO}, upstream: [{ silent: true }], expect: { status: 504 }`,
      ),
    );
    expect(messagesOf(results)).toEqual(['The test "t" took longer than 20 ms.']);
  });

  it("that the file's tests take together fails those that are left", async () => {
    const results = await run(
      `test_budget: 0ms\n${one(`request: ${HELLO}, expect: { status: 200 }`)}`,
    );
    expect(messagesOf(results)).toEqual([
      expect.stringMatching(/^The test "t" did not run: .*test_budget/),
    ]);
  });

  it("that ends by an aborted signal ends the run", async () => {
    expect(await run(undefined, { begin: () => AbortSignal.abort() })).toEqual([]);
    // The upstream is silent for longer than that.
    const silent = one(`request: ${HELLO}, upstream: [{ silent: true }], expect: { status: 504 }`);
    expect(await run(silent, { begin: () => AbortSignal.timeout(20) })).toEqual([]);
  });
});
