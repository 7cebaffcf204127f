/**
 * Tools of MCP servers in requests of responses, on routes whose guardrails judge requests: such a
 * request is refused, because no guardrail reads what the server says to the model. Credentials of a server reach no
 * message and no log.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "./guardrails.fixture.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const WORD = "zqforbiddenzq";
const CREDENTIAL = "mcp-credential-0123456789abcdef";
let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = guardedWorkspace({
    ...fourProviders(upstream.url),
    provider: "responses: true",
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

const tool = (more: object): object => ({
  type: "mcp",
  server_label: "files",
  server_url: "https://mcp.example/sse",
  require_approval: "never",
  headers: { "x-server-key": CREDENTIAL },
  authorization: CREDENTIAL,
  ...more,
});

async function ask(guardrails: readonly string[], more: object, model = "openai") {
  const response = await fetch(`${gateway.publicUrl}/v1/responses`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ model, input: "Hi.", store: false, guardrails, tools: [tool(more)] }),
  });
  return { status: response.status, said: await response.text() };
}

describe("a tool of an MCP server on a guarded route", () => {
  it.each<[string, object]>([
    ["its label", { server_label: WORD }],
    ["its description", { server_description: `Say ${WORD}.` }],
    ["its address", { server_url: `https://mcp.example/${WORD}` }],
    ["a name of its tools", { allowed_tools: [WORD] }],
    ["a filter of its tools", { allowed_tools: { tool_names: [WORD] } }],
    ["a rule of its approval", { require_approval: { never: { tool_names: [WORD] } } }],
    ["a member of next year", { of_next_year: { note: [WORD] } }],
  ])("does not reach the model with a word in %s", async (_what, more) => {
    for (const guardrail of ["blocking", "masking"]) {
      const calls = upstream.requests.length;
      const { status, said } = await ask([guardrail], more);
      expect([guardrail, status]).toEqual([guardrail, 400]);
      expect(said).not.toContain(CREDENTIAL);
      expect(upstream.requests).toHaveLength(calls);
    }
  });

  it("is refused without such a word too: no guardrail reads what the server says", async () => {
    const calls = upstream.requests.length;
    const { status, said } = await ask(["blocking"], {});
    expect([status, said]).toEqual([400, expect.stringContaining("tools[0]")]);
    expect(said).not.toContain(CREDENTIAL);
    expect(upstream.requests).toHaveLength(calls);
  });

  it("is refused by a model without the API, with its place and without its credential", async () => {
    const { status, said } = await ask([], {}, "anthropic");
    expect([status, said]).toEqual([400, expect.stringContaining("tools[0]")]);
    expect(said).not.toContain(CREDENTIAL);
  });

  it("leaves no credential in the log", () => {
    expect(gateway.stderr).not.toContain(CREDENTIAL);
  });
});
