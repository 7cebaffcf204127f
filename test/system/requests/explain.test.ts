/**
 * Explanations through the real process: what the admin listener says of a request, and who may
 * have it with the reply.
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, type Upstream } from "@sluice/testing";
import {
  admin,
  chat,
  configStatus,
  createKey,
  MESSAGES,
  openaiClient,
  rowsOf,
  spendRows,
} from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

const SHIPPED = readFileSync(new URL("../../../pipelines/chat.yaml", import.meta.url), "utf8");
const [SHIPPED_STEPS = ""] = SHIPPED.split("\nsteps:").slice(1).join("").split(/\n\S/);
const KEPT = 30;
const PROMPT = "a prompt that no other key may read";
const ASK = { "x-sluice-explain": "1" };

interface Explanation {
  readonly request_id: string;
  readonly source: string;
  readonly generation: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly total_ms: number;
  readonly overhead_ms: number;
  readonly steps: readonly {
    readonly step: string;
    readonly at: string;
    readonly outcome: string;
    readonly error: string | null;
    readonly runs: number;
    readonly ms: number | null;
    readonly decisions: readonly string[];
  }[];
  readonly attempts: readonly {
    readonly deployment: string;
    readonly outcome: string;
    readonly start_ms: number;
    readonly first_content_ms: number | null;
    readonly end_ms: number;
    readonly upstream_ms: number;
    readonly total_tokens: number | null;
    readonly cost: number | null;
  }[];
  readonly omitted?: readonly string[];
}

let upstream: Upstream;
let second: Upstream;
let gateway: GatewayProcess;
let chatFile: string;

beforeAll(async () => {
  [upstream, second] = await Promise.all([createUpstream(), createUpstream()]);
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    server: `explain_requests: ${KEPT}`,
    balance: NEVER_EJECTS,
    providers: [
      `second: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: "${second.baseUrl}" }`,
    ],
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: main, targets: [{ provider: openai, model: gpt-4o-mini }], fallbacks: { general: [spare] } }",
      "{ id: spare, targets: [{ provider: second, model: m2 }] }",
      "{ id: pair, targets: [{ provider: openai, model: p1 }, { provider: second, model: p2 }], balance: priority }",
    ],
  });
  chatFile = join(gateway.workspace.pipelinesFolder, "chat.yaml");
});
beforeEach(() => {
  upstream.reset();
  second.reset();
});
afterAll(async () => {
  await gateway?.dispose();
  await Promise.all([upstream?.close(), second?.close()]);
});

async function explain(id: string | null | undefined): Promise<Explanation> {
  const response = await admin(gateway, `/requests/${String(id)}`);
  const text = await response.text();
  if (!response.ok)
    throw new Error(`GET /requests/${String(id)} answered ${response.status}: ${text}`);
  for (const secret of [PROMPT, DEFAULT_TEXT, UPSTREAM_KEY, gateway.masterKey])
    expect(text).not.toContain(secret);
  return JSON.parse(text) as Explanation;
}

/** Sends a chat request, reads the reply to its end, and explains it. */
async function chatAndExplain(body: object, init: RequestInit = {}) {
  const response = await chat(
    gateway,
    { messages: [{ role: "user", content: PROMPT }], ...body },
    init,
  );
  const text = await response.text();
  return { response, text, explanation: await explain(response.headers.get("x-request-id")) };
}

/**
 * `file:line` of a step of the chat pipeline as the file is now, from the folder that the gateway
 * was started in.
 */
function placeOf(step: string): string {
  const lines = readFileSync(chatFile, "utf8").split("\n");
  const index = lines.findIndex((line) => new RegExp(`^ +- (\\{ use: )?${step}\\b`).test(line));
  return `pipelines/chat.yaml:${index + 1}`;
}

/** The steps of the shipped pipeline for chat completions: `responses` runs for its face alone. */
const STEPS = [...SHIPPED_STEPS.matchAll(/^ {2}- (?:\{ use: )?([a-z]+)/gm)]
  .map(([, name = ""]) => name)
  .filter((name) => name !== "responses");
const stepOf = ({ steps }: Explanation, name: string) => steps.find(({ step }) => step === name);

describe("an explanation", () => {
  it("of a whole reply has every step with its line, and the attempt as its row has it", async () => {
    const { response, explanation } = await chatAndExplain({ model: "gpt-4o-mini" });
    const { steps, attempts } = explanation;
    expect(explanation).toMatchObject({
      request_id: response.headers.get("x-request-id"),
      source: "memory",
      route: "POST /v1/chat/completions",
      operation: "chat",
      pipeline: "chat",
      generation: Number(response.headers.get("x-sluice-generation")),
      key: { id: "master", alias: "master" },
      model: "gpt-4o-mini",
      stream: false,
      status: 200,
      error: null,
    });
    expect(steps.map(({ step }) => step)).toEqual(STEPS);
    expect(steps.map(({ at }) => at)).toEqual(STEPS.map(placeOf));
    expect(steps.map(({ outcome, runs }) => `${outcome} ${runs}`)).toEqual([
      ...STEPS.slice(1).map(() => "passed 1"),
      "answered 1",
    ]);
    expect(stepOf(explanation, "auth")?.decisions).toEqual(["the master key"]);
    expect(stepOf(explanation, "balance")?.decisions).toEqual([
      "the only target: openai/gpt-4o-mini",
    ]);
    const stepsMs = steps.reduce((sum, { ms }) => sum + Number(ms), 0);
    expect(stepsMs).toBeGreaterThan(attempts[0]?.upstream_ms ?? Infinity);
    expect(stepsMs).toBeLessThan(explanation.total_ms);
    // The header has two digits behind the point.
    expect(explanation.overhead_ms).toBeCloseTo(
      Number(response.headers.get("x-sluice-overhead-ms")),
      1,
    );
    const [row] = await rowsOf(gateway, explanation.request_id);
    expect(attempts).toMatchObject([
      {
        attempt: 1,
        deployment: row?.model_id,
        provider: "openai",
        model: "gpt-4o-mini",
        outcome: "success",
        status: 200,
        error: null,
        prompt_tokens: row?.prompt_tokens,
        total_tokens: row?.total_tokens,
        usage_source: "provider",
        cost: row?.spend,
        cost_status: "priced",
      },
    ]);
    console.info(
      `explained: ${explanation.total_ms} ms, steps ${steps.map(({ step, ms }) => `${step} ${ms}`).join(", ")}`,
    );
  });

  it("of a stream has the time of its first content", async () => {
    upstream.script({ kind: "reply", eventDelayMs: 5 });
    const { explanation } = await chatAndExplain({ model: "gpt-4o-mini", stream: true });
    expect(explanation).toMatchObject({
      stream: true,
      status: 200,
      error: null,
      attempts: [{ outcome: "success" }],
    });
    const [attempt] = explanation.attempts;
    expect(attempt?.first_content_ms).toBeLessThan(attempt?.end_ms ?? 0);
    expect(explanation.total_ms).toBeGreaterThan(
      explanation.overhead_ms + (attempt?.upstream_ms ?? Infinity),
    );
  });

  it("of a stream that was cut has the error, though the status was 200", async () => {
    upstream.script({ kind: "reply", fault: { kind: "end", after: 4 } });
    const { explanation, text } = await chatAndExplain(
      { model: "gpt-4o-mini", stream: true },
      { headers: ASK },
    );
    expect(explanation).toMatchObject({
      status: 200,
      error: "stream_truncated",
      attempts: [{ outcome: "partial" }],
    });
    const [comment = "", error = ""] = text.trimEnd().split("\n\n").slice(-2);
    expect([
      comment.startsWith(": x-sluice-explain {"),
      error.startsWith('data: {"error"'),
    ]).toEqual([true, true]);
  });

  it("shows retries and the fallback, with lines that follow an edit", async () => {
    upstream.script({ kind: "error", status: 500 });
    const before = await chatAndExplain({ model: "main" });
    const linesBefore = STEPS.map(placeOf);
    writeFileSync(
      `${chatFile}.new`,
      `# A line.\n# And another one.\n${readFileSync(chatFile, "utf8")}`,
    );
    renameSync(`${chatFile}.new`, chatFile);
    await eventually(
      "the edit to apply",
      async () => (await configStatus(gateway)).live.generation > before.explanation.generation,
    );
    const { explanation } = await chatAndExplain({ model: "main" });

    expect(explanation.steps.map(({ at }) => at)).toEqual(STEPS.map(placeOf));
    const runs = ["auth", "fallback", "balance", "retry", "provider"].map(
      (name) => stepOf(explanation, name)?.runs,
    );
    expect(runs).toEqual([1, 1, 2, 2, 3]);
    expect(stepOf(explanation, "fallback")?.decisions).toEqual([
      "another model: main -> spare, because of upstream_failed",
    ]);
    expect(stepOf(explanation, "retry")?.decisions).toEqual([
      expect.stringMatching(
        /^once more: openai\/gpt-4o-mini after \d+ ms, because of upstream_failed$/,
      ),
      "no retry left after: upstream_failed",
    ]);
    expect(stepOf(explanation, "balance")?.decisions).toContain("the only target: second/m2");
    expect(explanation.attempts).toMatchObject([
      {
        attempt: 1,
        deployment: "openai/gpt-4o-mini",
        outcome: "failure",
        status: 502,
        error: "upstream_failed",
        model: "main",
      },
      { attempt: 2, deployment: "openai/gpt-4o-mini", outcome: "failure" },
      { attempt: 3, deployment: "second/m2", outcome: "success", status: 200, model: "spare" },
    ]);
    const [first, retried, last] = explanation.attempts;
    expect(retried?.start_ms).toBeGreaterThanOrEqual(first?.end_ms ?? Infinity);
    expect(last?.start_ms).toBeGreaterThanOrEqual(retried?.end_ms ?? Infinity);
    // What was served before the edit is explained by the file as it was.
    expect((await explain(before.explanation.request_id)).steps.map(({ at }) => at)).toEqual(
      linesBefore,
    );
  });

  it("says which strategy chose among targets", async () => {
    const { explanation } = await chatAndExplain({ model: "pair" });
    expect(stepOf(explanation, "balance")?.decisions).toEqual([
      `chosen by priority: ${explanation.attempts[0]?.deployment}`,
    ]);
  });

  it("of a refusal says which step refused, also without an identity", async () => {
    const unknown = await chatAndExplain({ model: "unlisted" });
    expect(unknown.explanation).toMatchObject({
      status: 404,
      error: "model_not_found",
      key: { id: "master" },
      attempts: [],
    });
    const [auth, ...others] = unknown.explanation.steps;
    expect(auth).toMatchObject({
      outcome: "failed",
      error: "model_not_found",
      decisions: ["the master key"],
    });
    expect(others.every(({ outcome, ms }) => outcome === "not reached" && ms === null)).toBe(true);

    const refused = await chatAndExplain(
      { model: "gpt-4o-mini" },
      { headers: { authorization: "Bearer sk-wrong", ...ASK } },
    );
    expect(refused.explanation).toMatchObject({
      status: 401,
      error: "authentication_failed",
      key: null,
      model: null,
    });
    expect(refused.response.headers.has("x-sluice-explain")).toBe(false);
  });
});

it("of a request whose client left before any answer has no status", async () => {
  upstream.script({ kind: "hang" });
  const gone = new AbortController();
  const sent = chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES }, { signal: gone.signal });
  await upstream.waitFor(({ path }) => path === "/v1/chat/completions");
  gone.abort();
  await expect(sent).rejects.toThrow("aborted");
  const explanation = await eventually("the explanation of a request that was left", async () => {
    const [row] = await spendRows(gateway, { limit: "1" });
    return row?.error_code === "client_closed" && (await explain(row.request_id));
  });
  expect(explanation).toMatchObject({ source: "memory", status: null, error: "client_closed" });
  expect(stepOf(explanation, "provider")).toMatchObject({
    outcome: "failed",
    error: "client_closed",
    runs: 1,
  });
});

describe("with the reply", () => {
  const client = (key: string): OpenAI => openaiClient(gateway, { apiKey: key });

  it("the master key gets it in a header of a whole reply, for which the SDK has nothing to do", async () => {
    const { data, response } = await client(gateway.masterKey)
      .chat.completions.create({ model: "gpt-4o-mini", messages: MESSAGES }, { headers: ASK })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe(DEFAULT_TEXT);
    const header = response.headers.get("x-sluice-explain") ?? "";
    expect(header.length).toBeLessThanOrEqual(2_048);
    const short = JSON.parse(header) as Explanation;
    expect(short.steps.map(({ step }) => step)).toEqual(STEPS);
    expect(short.steps[0]?.at).toMatch(/^chat\.yaml:\d+$/);
    const whole = await explain(short.request_id);
    expect(short).toMatchObject({
      status: 200,
      attempts: [{ deployment: "openai/gpt-4o-mini", cost: whole.attempts[0]?.cost }],
    });
  });

  it("a stream has it in a comment before its end, which the SDK passes over", async () => {
    const texts: string[] = [];
    const body = { model: "gpt-4o-mini", messages: MESSAGES, stream: true } as const;
    for await (const { choices } of await client(gateway.masterKey).chat.completions.create(body, {
      headers: ASK,
    })) {
      texts.push(choices[0]?.delta.content ?? "");
    }
    expect(texts.join("")).toBe(DEFAULT_TEXT);
    const events = (await (await chat(gateway, body, { headers: ASK })).text())
      .trimEnd()
      .split("\n\n");
    const [comment = "", end] = events.slice(-2);
    expect(end).toBe("data: [DONE]");
    const short = JSON.parse(comment.replace(/^: x-sluice-explain /, "")) as Explanation;
    expect(short).toMatchObject({ status: 200, attempts: [{ outcome: "success" }] });
    expect(short.attempts[0]?.total_tokens).toBe(
      (await explain(short.request_id)).attempts[0]?.total_tokens,
    );
  });

  it("an error has it too", async () => {
    upstream.script({ kind: "error", status: 500 });
    const { response } = await chatAndExplain({ model: "gpt-4o-mini" }, { headers: ASK });
    const short = JSON.parse(response.headers.get("x-sluice-explain") ?? "") as Explanation;
    expect(short).toMatchObject({ status: 502, error: "upstream_failed" });
    expect(short.attempts.map(({ outcome }) => outcome)).toEqual(["failure", "failure"]);
  });

  it("a virtual key gets it only where its own metadata says so, and reads no other request", async () => {
    const permitted = await createKey(gateway, {
      key_alias: "may",
      metadata: { sluice_explain: true },
    });
    const others = await Promise.all(
      [{}, { metadata: { sluice_explain: "true" } }].map((fields) => createKey(gateway, fields)),
    );
    const send = (key: string, headers: Record<string, string> = ASK, metadata = {}) =>
      chatAndExplain(
        { model: "gpt-4o-mini", metadata },
        { headers: { authorization: `Bearer ${key}`, ...headers } },
      );

    const { response, explanation } = await send(permitted.key);
    const short = JSON.parse(response.headers.get("x-sluice-explain") ?? "") as Explanation;
    expect(short).toMatchObject({
      request_id: explanation.request_id,
      key: { id: permitted.token_id },
    });
    expect(stepOf(explanation, "auth")?.decisions).toEqual(["a virtual key"]);
    expect((await send(permitted.key, {})).response.headers.has("x-sluice-explain")).toBe(false);
    for (const { key } of others) {
      // The request's own metadata gives no permission.
      const refused = await send(key, ASK, { sluice_explain: true });
      expect([refused.response.status, refused.response.headers.has("x-sluice-explain")]).toEqual([
        200,
        false,
      ]);
      const stream = await chat(
        gateway,
        { model: "gpt-4o-mini", messages: MESSAGES, stream: true },
        { headers: { authorization: `Bearer ${key}`, ...ASK } },
      );
      expect(await stream.text()).not.toContain("explain");
    }
    for (const { key } of [permitted, ...others]) {
      expect(
        (await admin(gateway, `/requests/${explanation.request_id}`, undefined, key)).status,
      ).toBe(403);
      const onPublic = await fetch(`${gateway.publicUrl}/requests/${explanation.request_id}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(onPublic.status).toBe(404);
    }
  });
});

describe("a request that is no longer kept", () => {
  it("is explained by its rows, as far as they know, and one that never was is not found", async () => {
    upstream.script({ kind: "error", status: 500 });
    const { explanation } = await chatAndExplain({ model: "main" });
    const list = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${gateway.masterKey}` };
      await (await fetch(`${gateway.publicUrl}/v1/models`, { headers })).text();
    };
    await Promise.all(Array.from({ length: KEPT }, list));
    const later = await explain(explanation.request_id);
    expect(later).toMatchObject({
      source: "ledger",
      steps: null,
      total_ms: null,
      status: null,
      key: { id: "master" },
    });
    expect(
      later.attempts.map(({ deployment, outcome, cost }) => [deployment, outcome, cost]),
    ).toEqual(
      explanation.attempts.map(({ deployment, outcome, cost }) => [deployment, outcome, cost]),
    );
    const missing = await admin(gateway, "/requests/01900000-0000-7000-8000-000000000000");
    expect(missing.status).toBe(404);
  });
});

describe("a stream out of which an unreadable event was dropped", () => {
  it("says so in a comment, its row, its explanation and the log (V5)", async () => {
    upstream.script({ kind: "reply", fault: { kind: "garbage", after: 2 } });
    const response = await chat(gateway, {
      model: "gpt-4o-mini",
      messages: MESSAGES,
      stream: true,
    });
    expect((await response.text()).trimEnd().split("\n\n").slice(-2)).toEqual([
      ": x-sluice-dropped-events 1",
      "data: [DONE]",
    ]);
    const id = response.headers.get("x-request-id");
    const [row] = await rowsOf(gateway, id);
    expect(row).toMatchObject({ status: "success", metadata: { dropped_events: 1 } });
    // The SDK passes over the comment, and a stream of which nothing is missing has none.
    const texts: string[] = [];
    const body = { model: "gpt-4o-mini", messages: MESSAGES, stream: true } as const;
    for await (const { choices } of await openaiClient(gateway).chat.completions.create(body))
      texts.push(choices[0]?.delta.content ?? "");
    expect(texts.join("")).not.toBe("");
    const post = async (path: string, asked: object): Promise<string> => {
      const answer = await fetch(gateway.publicUrl + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(asked),
      });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    const messages = { ...body, max_tokens: 9 };
    expect(await post("/v1/messages", messages)).toContain(": x-sluice-dropped-events 1\n\n");
    const parts = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };
    expect(
      await post("/v1beta/models/gpt-4o-mini:streamGenerateContent?alt=sse", parts),
    ).not.toContain("x-sluice-dropped-events");
    upstream.reset();
    expect(await post("/v1/chat/completions", body)).not.toContain("x-sluice-dropped-events");
    const { steps } = await explain(id);
    expect(steps.flatMap(({ decisions }) => decisions).join("\n")).toContain(
      "left out an event of the stream",
    );
    expect(gateway.stdout + gateway.stderr).toContain("unreadable stream event dropped");
  });
});
