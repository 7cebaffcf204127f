/**
 * Failover with the shipped steps and short times: what the client gets, and what each upstream was
 * asked.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, type Upstream, type UpstreamAction } from "@sluice/testing";
import { admin, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const MARKER = "[The reply was cut here. A new reply follows.]";
const SPARE_TEXT = "The spare one answers.";

let primary: Upstream;
let second: Upstream;
let spare: Upstream;
let gateway: GatewayProcess;
let number = 0;

beforeAll(async () => {
  [primary, second, spare] = await Promise.all([
    createUpstream(),
    createUpstream(),
    createUpstream(),
  ]);
  const key = 'api_key: "${env:OPENAI_API_KEY}"';
  const workspace = createWorkspace({
    baseUrl: primary.baseUrl,
    balance: "{ breaker: { ejection: 500ms, ejection_with_fallback: 300ms } }",
    providers: [
      // Short times for calls that never answer: every other one may be late.
      `silent: { use: openai, ${key}, base_url: "${primary.baseUrl}", timeouts: { first_byte: 300ms, first_content: 500ms } }`,
      `second: { use: openai, ${key}, base_url: "${second.baseUrl}" }`,
      `spare: { use: openai, ${key}, base_url: "${spare.baseUrl}" }`,
    ],
    models: [
      "{ id: pair, targets: [{ provider: openai, model: a }, { provider: second, model: b }], balance: priority, fallbacks: { general: [spare] } }",
      '{ id: "one/*", targets: [{ provider: openai, model: "*" }], fallbacks: { general: [spare] } }',
      '{ id: "silent/*", targets: [{ provider: silent, model: "*" }], fallbacks: { general: [spare] } }',
      '{ id: "goes-on/*", targets: [{ provider: openai, model: "*" }], fallbacks: { general: [prefills] } }',
      "{ id: spare, targets: [{ provider: spare, model: s }] }",
      "{ id: prefills, targets: [{ provider: spare, model: p }], info: { supports_assistant_prefill: true } }",
    ],
  });
  const shipped = readFileSync(join(workspace.pipelinesFolder, "chat.yaml"), "utf8");
  const variant = (name: string, step: string, by: string): void => {
    const text = shipped
      .replace(/^pipeline: chat$/m, `pipeline: ${name}`)
      .replace(/^routes:\n(?: +(?:- |#).*\n)+/m, `routes: [POST /${name}/chat/completions]\n`)
      .replace(new RegExp(`^( +- )${step}\\b.*$`, "m"), `$1{ use: ${step}, with: ${by} }`)
      .replace(/^tests:\n[^]*?(?=^end_of_config)/m, "");
    writeFileSync(join(workspace.pipelinesFolder, `${name}.yaml`), text);
  };
  variant("patient", "retry", "{ attempts: 3 }");
  variant("narrow", "retry", "{ on: [rate_limit] }");
  variant("continued", "fallback", "{ on_cut: continue }");
  gateway = await startGateway(workspace);
});
beforeEach(async () => {
  for (const upstream of [primary, second, spare]) upstream.reset();
  spare.script({ kind: "reply", text: SPARE_TEXT });
  await Promise.all(
    ["openai/a", "openai/*", "silent/*", "second/b"].map((id) =>
      admin(gateway, `/deployments/${encodeURIComponent(id)}/reset`, {}),
    ),
  );
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await Promise.all([primary?.close(), second?.close(), spare?.close()]);
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly model: string | null;
  readonly id: string | null;
}

async function ask(model: string, pipeline = "", more: object = {}): Promise<Answer> {
  const messages = [{ role: "user", content: `Question ${(number += 1)}` }];
  const url = `${gateway.publicUrl}/${pipeline === "" ? "v1" : pipeline}/chat/completions`;
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages, stream: true, ...more }),
  });
  const raw = await response.text();
  const events = raw.split("\n\n").filter((event) => event.startsWith("data: {"));
  const text = events
    .map(
      (event) =>
        (JSON.parse(event.slice(6)) as { choices?: { delta?: { content?: string } }[] })
          .choices?.[0]?.delta?.content ?? "",
    )
    .join("");
  const end = raw.includes("[DONE]") ? "" : " (cut)";
  return {
    status: response.status,
    text: text + end,
    model: response.headers.get("x-sluice-model"),
    id: response.headers.get("x-request-id"),
  };
}

const counts = (): readonly number[] =>
  [primary, second, spare].map(({ requests }) => requests.length);
const FAILED: UpstreamAction = { kind: "error", status: 503 };

describe("a healthy fallback", () => {
  it("is asked after two targets that fail, with the shipped bounds (V2)", async () => {
    primary.script(FAILED);
    second.script(FAILED);
    expect(await ask("pair")).toMatchObject({ status: 200, text: SPARE_TEXT, model: "spare" });
    expect(counts()).toEqual([1, 1, 1]);
  });

  it("keeps its call when retries could spend all of them (V2)", async () => {
    primary.script(FAILED);
    expect(await ask("one/v2", "patient")).toMatchObject({ status: 200, text: SPARE_TEXT });
    expect(counts()).toEqual([2, 0, 1]);
  });

  it.each<[string, UpstreamAction]>([
    ["hangs", { kind: "hang" }],
    ["is silent after its headers", { kind: "reply", fault: { kind: "hang", after: 0 } }],
    ["is silent after the role", { kind: "reply", fault: { kind: "hang", after: 1 } }],
  ])("is asked after one silence of a target that %s", async (_how, action) => {
    primary.script(action);
    expect(await ask("silent/one")).toMatchObject({ status: 200, text: SPARE_TEXT });
    expect(counts()).toEqual([1, 0, 1]);
  });

  it("is asked at once for failures that `on` of retry does not name", async () => {
    primary.script(FAILED);
    expect(await ask("one/on", "narrow")).toMatchObject({ text: SPARE_TEXT });
    expect(counts()).toEqual([1, 0, 1]);
  });

  it("answers while the target is ejected, whose trial is one call (V4)", async () => {
    primary.script(FAILED);
    const health = async (): Promise<boolean> => {
      await ask("one/trial");
      const before = primary.requests.length;
      const answer = await ask("one/trial");
      expect(answer.text).toBe(SPARE_TEXT);
      return primary.requests.length === before;
    };
    await eventually("the ejection", health);
    const before = primary.requests.length;
    await eventually("the trial", async () => {
      await ask("one/trial");
      return primary.requests.length > before;
    });
    expect(primary.requests.length).toBe(before + 1);
    primary.script({ kind: "reply" });
    await eventually("the recovery", async () => (await ask("one/trial")).text === DEFAULT_TEXT);
  });
});

describe("a stream that is cut after its first content", () => {
  const cut: UpstreamAction = { kind: "reply", fault: { kind: "reset", after: 4 } };

  it("ends with an error by default", async () => {
    primary.script(cut);
    expect((await ask("one/cut")).text).toMatch(/\(cut\)$/);
    expect(counts()).toEqual([1, 0, 0]);
  });

  it("goes on as a new reply behind a marker, with a row for each call", async () => {
    primary.script(cut);
    const { text, id } = await ask("one/continued", "continued");
    expect(text).toMatch(/^.+\n\n\[The reply was cut here[^]*$/);
    expect(text.split(MARKER)[1]?.trim()).toBe(SPARE_TEXT);
    expect(DEFAULT_TEXT.startsWith(text.split("\n\n")[0] ?? "-")).toBe(true);
    const rows = await rowsOf(gateway, id);
    expect(
      rows.toSorted((a, b) => a.attempt - b.attempt).map(({ status, model }) => [status, model]),
    ).toEqual([
      ["partial", "one/continued"],
      ["success", "spare"],
    ]);
  });

  it("goes on in the middle where the model takes an assistant message at the end", async () => {
    primary.script(cut);
    const { text } = await ask("goes-on/x", "continued");
    expect(text).not.toContain(MARKER);
    const sent = spare.requests[0]?.parsed?.["messages"] as { role: string; content: string }[];
    const said = sent.at(-1);
    expect(said?.role).toBe("assistant");
    expect(text).toBe(`${said?.content}${SPARE_TEXT}`);
  });

  it.each([
    [
      "tools",
      { tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }] },
    ],
    ["structured output", { response_format: { type: "json_object" } }],
    ["several choices", { n: 2 }],
  ])("ends with an error for a request with %s", async (_what, more) => {
    primary.script(cut);
    expect((await ask("one/excluded", "continued", more)).text).toMatch(/\(cut\)$/);
    expect(spare.requests).toHaveLength(0);
  });

  it("is let go when the client leaves", async () => {
    primary.script(cut);
    spare.script({ kind: "reply", fault: { kind: "hang", after: 3 } });
    const leaving = new AbortController();
    const response = await fetch(`${gateway.publicUrl}/continued/chat/completions`, {
      method: "POST",
      signal: leaving.signal,
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "one/leaves",
        messages: [{ role: "user", content: "Hello" }],
        stream: true,
      }),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await spare.waitFor((request) => request.number === 1);
    leaving.abort();
    expect(
      await spare.waitFor(({ closedByPeerAtMs }) => closedByPeerAtMs !== undefined),
    ).toMatchObject({ finished: false });
  });
});
