/**
 * Blocks of tools that Anthropic runs itself, on routes whose guardrails judge requests and
 * replies: every text in them is judged, and they reach the model, and the client, as they were.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const WORD = "zqforbiddenzq";
let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = guardedWorkspace({
    ...fourProviders(upstream.url),
    guardrails: [
      `blocking: { use: forbid, word: ${WORD} }`,
      `masking: { use: forbid, word: ${WORD}, action: mask }`,
    ],
    step: "{}",
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const SEALED = Buffer.alloc(90, 9).toString("base64");
const search = (query: string): object => ({
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: { query, of_next_year: [1.5, null, { "a b": true }] },
});
const found = (title: string): object => ({
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [
    { type: "web_search_result", url: "https://a.example", title, encrypted_content: SEALED },
  ],
  cache_control: { type: "ephemeral" },
});
const fetched = (data: string): object => ({
  type: "web_fetch_tool_result",
  tool_use_id: "srvtoolu_2",
  content: {
    type: "web_fetch_result",
    url: "https://a.example",
    content: { type: "document", source: { type: "text", media_type: "text/plain", data } },
  },
});
const text = (said: string): object => ({ type: "text", text: said });
const TOOLS = [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }];

function answered(content: readonly object[]): object {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content,
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 1, server_tool_use: { web_search_requests: 1 } },
  };
}

async function ask(guardrail: string, content: readonly object[], more: object = {}) {
  const response = await fetch(`${gateway.publicUrl}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": gateway.masterKey, "content-type": "application/json" },
    body: JSON.stringify({
      model: "anthropic",
      max_tokens: 100,
      tools: TOOLS,
      messages: [
        { role: "user", content: "Search." },
        { role: "assistant", content },
        { role: "user", content: "And now?" },
      ],
      guardrails: [guardrail],
      ...more,
    }),
  });
  return { status: response.status, said: await response.text() };
}

const sent = (): { readonly messages: readonly { readonly content: unknown }[] } =>
  upstream.lastBody() as { readonly messages: readonly { readonly content: unknown }[] };

describe("a request with blocks of server tools", () => {
  it("reaches the model as it was", async () => {
    upstream.reply(200, "application/json", JSON.stringify(answered([text("Fine.")])));
    const content = [text("I look."), search("a"), found("b"), fetched("c"), text("So.")];
    expect(await ask("blocking", content)).toMatchObject({ status: 200 });
    expect(JSON.stringify(sent().messages[1]?.content)).toBe(JSON.stringify(content));
    expect(sent()).toMatchObject({ tools: TOOLS });
  });

  it.each<[string, (said: string) => object]>([
    ["a query", search],
    ["a title", found],
    ["a page", fetched],
    ["a block of next year", (said) => ({ type: "of_next_year", text: said })],
    ["a name of a member", (said) => ({ type: "of_next_year", [said]: 1 })],
  ])("is blocked for a word in %s", async (_what, block) => {
    const calls = upstream.requests.length;
    const { status, said } = await ask("blocking", [text("I look."), block(`A ${WORD}.`)]);
    expect([status, said]).toEqual([400, expect.stringContaining("blocked this request")]);
    expect(upstream.requests).toHaveLength(calls);
  });

  it("is refused with servers of MCP: what they say to the model, no guardrail reads", async () => {
    const calls = upstream.requests.length;
    const servers = [{ type: "url", url: "https://mcp.example/sse", name: "files" }];
    const { status, said } = await ask("blocking", [text("Hm.")], { mcp_servers: servers });
    expect([status, said]).toEqual([400, expect.stringContaining("mcp_servers")]);
    expect(upstream.requests).toHaveLength(calls);
  });

  it("has the word masked where it stands", async () => {
    upstream.reply(200, "application/json", JSON.stringify(answered([text("Fine.")])));
    const content = (word: string): object[] => [search(word), found(word), fetched(word)];
    expect(await ask("masking", content(WORD))).toMatchObject({ status: 200 });
    expect(sent().messages[1]?.content).toEqual(content("***"));
  });

  it("is blocked for a word that is divided over a text and a block beside it", async () => {
    const parts = [WORD.slice(0, 6), WORD.slice(6)] as const;
    const calls = upstream.requests.length;
    const content = [text(parts[0]), { type: "of_next_year", text: parts[1] }];
    expect(await ask("blocking", content)).toMatchObject({ status: 400 });
    expect(upstream.requests).toHaveLength(calls);
  });

  it("is blocked for a word that is divided over the blocks of an instruction", async () => {
    const blocks = [text(WORD.slice(0, 6)), text(WORD.slice(6))];
    const calls = upstream.requests.length;
    const messages = [
      { role: "user", content: "Search." },
      { role: "system", content: blocks },
    ];
    expect(await ask("blocking", [], { messages })).toMatchObject({ status: 400 });
    expect(upstream.requests).toHaveLength(calls);
  });

  it("is refused where the model has no form for it, and where a wrapper holds a plain block", async () => {
    const { status, said } = await ask("blocking", [search("a")], { model: "openai", tools: [] });
    expect([status, said]).toEqual([400, expect.stringContaining("messages[1].content[0]")]);
    const chat = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.masterKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        model: "anthropic",
        messages: [
          { role: "user", content: [{ type: "native_block", native_block: text("Hi.") }] },
        ],
      }),
    });
    expect(chat.status).toBe(400);
  });
});

describe("a reply with blocks of server tools", () => {
  const blocks = (word: string): object[] => [text("I look."), search(word), found(word)];
  const events = (content: readonly object[]): string => {
    const event = (type: string, rest: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
    const message = { ...answered([]), stop_reason: null };
    return [
      event("message_start", { message }),
      ...content.flatMap((block, index) => {
        const { text: said, input, ...rest } = block as { text?: string; input?: object };
        const start =
          said === undefined ? (input === undefined ? rest : { ...rest, input: {} }) : text("");
        const delta =
          said === undefined
            ? { type: "input_json_delta", partial_json: JSON.stringify(input) }
            : { type: "text_delta", text: said };
        return [
          event("content_block_start", { index, content_block: start }),
          ...(said === undefined && input === undefined
            ? []
            : [event("content_block_delta", { index, delta })]),
          event("content_block_stop", { index }),
        ];
      }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } }),
      event("message_stop", {}),
    ].join("");
  };

  it.each([false, true])("has every text judged, streamed: %s", async (stream) => {
    const reply = (word: string): void =>
      stream
        ? upstream.reply(200, "text/event-stream", events(blocks(word)))
        : upstream.reply(200, "application/json", JSON.stringify(answered(blocks(word))));
    reply(WORD);
    const masked = await ask("masking", [text("Hm.")], { stream });
    expect(masked.status).toBe(200);
    expect(masked.said).not.toContain(WORD);
    expect(masked.said).toContain('"query":"***"');
    expect(masked.said).toContain('"title":"***"');
    const blocked = await ask("blocking", [text("Hm.")], { stream });
    expect(blocked.said).not.toContain(WORD);
    expect(blocked.said).toContain("blocked");
    reply("fine");
    const passed = await ask("blocking", [text("Hm.")], { stream });
    for (const block of blocks("fine").slice(1))
      expect(passed.said).toContain(JSON.stringify(block));
  });
});
