/**
 * Upstreams that tell no usage, and streams that are cut before they could: the row has counted
 * tokens, and a price.
 */

import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, type Upstream } from "@sluice/testing";
import { chat, MESSAGES, rowsOf, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

/** Three a message, the role, the content, three to begin the reply. */
const PROMPT_TOKENS = 3 + countTokens("user") + countTokens(MESSAGES[0]?.content ?? "") + 3;

let upstream: Upstream;
let gateway: GatewayProcess;

/**
 * Sends a chat request to an upstream that tells no usage. Returns the request's row when the reply
 * has ended.
 */
async function untold(
  body: object,
  action: object = {},
): Promise<{ row: SpendRow; response: Response; text: string }> {
  upstream.script({ kind: "reply", usage: "never", ...action });
  const response = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES, ...body });
  const text = await response.text();
  const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
  if (row === undefined) throw new Error("There is no row.");
  return { row, response, text };
}

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
  // The first counts may come before the tables are loaded, and are estimates then.
  await eventually(
    "exact counts",
    async () => (await untold({})).row.prompt_tokens === PROMPT_TOKENS,
  );
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe("an upstream that tells no usage", () => {
  it.each([false, true])(
    "leaves a row of counted tokens, marked and priced (stream: %s)",
    async (stream) => {
      const { row, response, text } = await untold({ stream });
      expect(text).toContain("lazy");
      const completionTokens = countTokens(DEFAULT_TEXT);
      expect(row).toMatchObject({
        status: "success",
        usage_source: "estimated",
        cost_status: "priced",
        prompt_tokens: PROMPT_TOKENS,
        completion_tokens: completionTokens,
        total_tokens: PROMPT_TOKENS + completionTokens,
      });
      // $0.15 and $0.60 for a million tokens.
      expect(row.spend).toBeCloseTo((PROMPT_TOKENS * 0.15 + completionTokens * 0.6) / 1e6, 9);
      expect(response.headers.get("x-sluice-cost")).toBe(stream ? null : String(row.spend));
    },
  );

  it("is counted alike whole and streamed, tool calls included", async () => {
    const toolCalls = [
      { name: "weather", arguments: '{"city":"Köln 👋","days":[1,2]}' },
      { name: "time", arguments: '{"zone":"UTC"}' },
    ];
    const whole = await untold({ stream: false }, { toolCalls });
    const streamed = await untold({ stream: true }, { toolCalls });
    expect(whole.row.completion_tokens).toBe(
      toolCalls.reduce(
        (total, call) => total + countTokens(call.name) + countTokens(call.arguments),
        0,
      ),
    );
    expect(
      Math.abs((streamed.row.completion_tokens ?? 0) - (whole.row.completion_tokens ?? 0)),
    ).toBeLessThan(4);
    expect(streamed.row.prompt_tokens).toBe(whole.row.prompt_tokens);
  });

  it("is not counted where it tells its usage", async () => {
    const { row } = await untold({ stream: true }, { usage: undefined });
    expect(row).toMatchObject({ usage_source: "provider", prompt_tokens: 3, completion_tokens: 9 });
  });
});

describe("a stream that is cut", () => {
  it("by the upstream: the prompt and what was said are priced", async () => {
    const { row, text } = await untold({ stream: true }, { fault: { kind: "reset", after: 4 } });
    expect(text).toContain('"error"');
    expect(row).toMatchObject({
      status: "partial",
      usage_source: "estimated",
      cost_status: "priced",
      prompt_tokens: PROMPT_TOKENS,
    });
    expect(row.completion_tokens).toBe(countTokens(spokenIn(text)));
    expect(row.completion_tokens).toBeGreaterThan(0);
  });

  it("by the client: the prompt and what was said are priced", async () => {
    const said = "one two three four five six seven eight nine ten ";
    upstream.script({ kind: "reply", usage: "never", text: said.repeat(50), eventDelayMs: 5 });
    const leaving = new AbortController();
    const body = { model: "gpt-4o-mini", messages: MESSAGES, stream: true, user: "leaves" };
    const response = await chat(gateway, body, { signal: leaving.signal });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes("five")) text += new TextDecoder().decode((await reader?.read())?.value);
    leaving.abort();
    const [row] = await eventually("the row", async () => {
      const rows = (await spendRows(gateway, {})).filter(({ end_user: user }) => user === "leaves");
      return rows.length > 0 && rows;
    });
    expect(row).toMatchObject({
      status: "partial",
      error_code: "client_closed",
      usage_source: "estimated",
      cost_status: "priced",
      prompt_tokens: PROMPT_TOKENS,
    });
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(countTokens(spokenIn(text)));
    expect(row?.completion_tokens).toBeLessThan(100);
  });
});

/** The content of the events that arrived. */
function spokenIn(text: string): string {
  return [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join("");
}
