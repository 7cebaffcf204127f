/**
 * Streams that are held back beyond their first content, and heartbeats, through the real process.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, type Upstream, type UpstreamAction } from "@sluice/testing";
import { chat, MESSAGES, openaiClient, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const HEARTBEAT_MS = 20;
const HELD_TOKENS = 5;
const SECOND_TEXT = "It was the second one who said this.";

/** A pipeline that holds streams back in one way, at `/<name>/chat/completions`. */
function pipeline(name: string, commitAfter: string, attempts: number): string {
  return `version: 1
pipeline: ${name}
routes: [POST /${name}/chat/completions]
operation: chat
heartbeat: ${HEARTBEAT_MS}ms
steps:
  - auth
  - cost
  - fallback
  - { use: balance, with: { breaker: { eject_single: false } } }
  - { use: retry, with: { attempts: ${attempts}, base: 1ms, budget: 100% } }
  - { use: provider, with: { commit_after: ${commitAfter} } }
`;
}

let first: Upstream;
let second: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  [first, second] = await Promise.all([createUpstream(), createUpstream()]);
  const limits = "timeouts: { first_byte: 2s, idle: 2s }";
  const workspace = createWorkspace({
    baseUrl: first.baseUrl,
    provider: limits,
    providers: [
      `second: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: "${second.baseUrl}", ${limits} }`,
    ],
    models: [
      "{ id: main, targets: [{ provider: openai, model: gpt-4o-mini }], fallbacks: { general: [spare] } }",
      "{ id: alone, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: spare, targets: [{ provider: second, model: gpt-4o-mini }] }",
    ],
  });
  const write = (name: string, commitAfter: string, attempts: number): void =>
    writeFileSync(
      join(workspace.pipelinesFolder, `${name}.yaml`),
      pipeline(name, commitAfter, attempts),
    );
  write("tokens", `{ tokens: ${HELD_TOKENS}, bytes: 256kb }`, 1);
  write("retried", `{ tokens: ${HELD_TOKENS} }`, 2);
  write("timed", "{ ms: 150ms, tokens: 1000 }", 1);
  gateway = await startGateway(workspace);
  // The first counts may come before the tables are loaded, and are estimates then.
  await eventually("exact counts", async () => (await cutEarly()) === countTokens(SAID));
});
beforeEach(() => {
  first.reset();
  second.reset();
  second.script({ kind: "reply", text: SECOND_TEXT });
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await first?.close();
  await second?.close();
});

function ask(route: string, body: object = {}): Promise<Response> {
  return fetch(`${gateway.publicUrl}/${route}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "main", messages: MESSAGES, stream: true, ...body }),
  });
}

async function cutEarly(): Promise<number | null | undefined> {
  first.script({ kind: "reply", fault: { kind: "error", after: 4 } });
  const response = await ask("tokens", { model: "alone" });
  await response.text();
  return (await rowsOf(gateway, response.headers.get("x-request-id")))[0]?.completion_tokens;
}

/** The content of the events. */
function spokenIn(text: string): string {
  return [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join("");
}

/** A role and three words: content, but less than is held. */
const fault = (kind: "error" | "reset" | "end" | "hang"): UpstreamAction => ({
  kind: "reply",
  fault: { kind, after: 4 },
});
const SAID = "The quick brown ";

describe("a stream that fails after its first content, while it is held back", () => {
  it.each([
    ["error", "upstream_failed"],
    ["reset", "upstream_unreachable"],
    ["end", "stream_truncated"],
    ["hang", "upstream_timeout"],
  ] as const)(
    "by %s: the fallback gets one request, the client only its tokens, and the row what was generated",
    async (kind, code) => {
      first.script(fault(kind));
      const response = await ask("tokens");
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(spokenIn(text)).toBe(SECOND_TEXT);
      expect(text).toMatch(/data: \[DONE\]\n\n$/);
      expect(text).not.toContain('"error"');
      expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
      const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
      const [failed, good] = rows.toSorted((a, b) => a.attempt - b.attempt);
      expect(failed).toMatchObject({
        attempt: 1,
        status: "failure",
        error_code: code,
        usage_source: "estimated",
        cost_status: "priced",
        completion_tokens: countTokens(SAID),
      });
      // $0.15 and $0.60 for a million tokens.
      expect(failed?.spend).toBeCloseTo(
        ((failed?.prompt_tokens ?? 0) * 0.15 + countTokens(SAID) * 0.6) / 1e6,
        9,
      );
      expect(failed?.completionStartTime).not.toBeNull();
      expect(good).toMatchObject({
        attempt: 2,
        status: "success",
        usage_source: "provider",
        cost_status: "priced",
      });
    },
  );

  it("is retried at the same target", async () => {
    first.script("gpt-4o-mini", fault("error"), { kind: "reply" });
    const response = await ask("retried", { model: "alone" });
    const text = await response.text();
    expect(spokenIn(text)).toBe(DEFAULT_TEXT);
    expect(first.requests).toHaveLength(2);
    expect(response.headers.get("x-sluice-attempts")).toBe("2");
  });

  it("has a status of its own when no other target answers", async () => {
    first.script(fault("error"));
    const response = await ask("tokens", { model: "alone" });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 502 } });
  });
});

describe("a stream that was let go", () => {
  it("is not tried again: one error event, and a partial row", async () => {
    // A role and six words, one after the other.
    first.script({ kind: "reply", eventDelayMs: 60, fault: { kind: "error", after: 7 } });
    const response = await ask("tokens");
    const text = await response.text();
    expect(spokenIn(text)).toBe("The quick brown fox jumps over ");
    expect(text).toMatch(/data: \{"error":.*\n\n$/);
    expect(second.requests).toHaveLength(0);
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      { status: "partial", attempt: 1 },
    ]);
  });

  it("is whole when it is shorter than what may be held", async () => {
    first.script({ kind: "reply", text: "Short." });
    const response = await ask("tokens");
    const text = await response.text();
    expect(spokenIn(text)).toBe("Short.");
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
  });

  it("by time comes while the upstream is silent", async () => {
    first.script({ kind: "reply", text: "One", fault: { kind: "hang", after: 2 } });
    const startedMs = performance.now();
    const response = await ask("timed");
    expect(performance.now() - startedMs).toBeGreaterThan(145);
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(spokenIn(text)).toBe("One");
    expect(text).toContain('"error"');
    expect(second.requests).toHaveLength(0);
  });
});

describe("heartbeats", () => {
  it("are comments between events, never before the first one", async () => {
    first.script({
      kind: "reply",
      text: "one two three four five six seven eight",
      eventDelayMs: 8 * HEARTBEAT_MS,
    });
    const text = await (await ask("tokens")).text();
    expect(text).toMatch(/^data: /);
    expect(text.split(": ping\n\n").length).toBeGreaterThan(3);
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    expect(
      text
        .replaceAll(": ping\n\n", "")
        .split("\n\n")
        .every((event) => event === "" || event.startsWith("data: ")),
    ).toBe(true);
  });

  it("leave a status to a stream that is late and then fails", async () => {
    first.script({ kind: "error", status: 400, delayMs: 5 * HEARTBEAT_MS });
    const response = await ask("tokens", { model: "alone" });
    expect(response.status).toBe(400);
  });

  it("are ignored by the SDK", async () => {
    first.script({ kind: "reply", eventDelayMs: 3 * HEARTBEAT_MS });
    const client = openaiClient(gateway).withOptions({ baseURL: `${gateway.publicUrl}/tokens` });
    const pieces: string[] = [];
    for await (const { choices } of await client.chat.completions.create({
      model: "main",
      messages: MESSAGES,
      stream: true,
    })) {
      pieces.push(choices[0]?.delta.content ?? "");
    }
    expect(pieces.join("")).toBe(DEFAULT_TEXT);
  });

  it("are not sent without the option: the default is longer than any test", async () => {
    first.script({ kind: "reply", eventDelayMs: 3 * HEARTBEAT_MS });
    const text = await (
      await chat(gateway, { model: "main", messages: MESSAGES, stream: true })
    ).text();
    expect(text).not.toContain("ping");
  });
});
