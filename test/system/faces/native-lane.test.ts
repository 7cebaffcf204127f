/**
 * The native lane: a client of Anthropic's messages at a model of Anthropic. Its document goes on
 * but for the model, unless it holds what only the gateway understands.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const fixtures = fixturesOf("provider-anthropic");
/** The mark of a thought that no provider signed. */
const UNSIGNED = "c2x1aWNlOnVuc2lnbmVk";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      providers: [
        `anthropic: { use: anthropic, api_key: "\${env:ANTHROPIC_API_KEY}", base_url: ${upstream.url} }`,
      ],
      models: ["{ id: claude, targets: [{ provider: anthropic, model: claude-sonnet-4-5 }] }"],
    },
    { ANTHROPIC_API_KEY: "a-credential-of-the-tests-0123456789" },
  );
  upstream.reply(200, "application/json", fixtures.text("text/reply"));
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function ask(body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${gateway.publicUrl}/v1/messages?beta=true`, {
    method: "POST",
    headers: {
      "x-api-key": gateway.masterKey,
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      ...headers,
    },
    body: JSON.stringify({ model: "claude", max_tokens: 100, ...body }),
  });
  return { status: response.status, reply: await response.json(), response };
}

const thoughtful = (signature: string): object[] => [
  { role: "user", content: "One?" },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm.", signature },
      { type: "text", text: "Two." },
    ],
  },
  { role: "user", content: "Three?" },
];

describe("a client of messages at a model of Anthropic", () => {
  it("has its document and its headers forwarded, unknown members too", async () => {
    const body = {
      messages: thoughtful("c2lnbmVk"),
      context_management: { edits: [] },
      of_next_year: [{ a: 1 }],
    };
    const { status, reply, response } = await ask(body, { "anthropic-beta": "next-2027-01-01" });
    expect([status, reply]).toMatchObject([200, { type: "message", model: "claude" }]);
    expect(upstream.lastBody()).toEqual({ model: "claude-sonnet-4-5", max_tokens: 100, ...body });
    expect(upstream.requests.at(-1)?.headers["anthropic-beta"]).toBe("next-2027-01-01");
    expect(response.headers.get("x-sluice-dropped-params")).toBeNull();
  });

  it("gets the translation for a thought that no provider signed", async () => {
    const { status } = await ask({ messages: thoughtful(UNSIGNED) });
    expect(status).toBe(200);
    const sent = JSON.stringify(upstream.lastBody());
    expect(sent).not.toContain(UNSIGNED);
    expect(sent).toContain("Two.");
  });

  it("keeps the gateway's own members out of the document", async () => {
    const own = { tags: ["a"], num_retries: 0, guardrails: [] };
    const { status } = await ask({ messages: [{ role: "user", content: "Hi." }], ...own });
    expect(status).toBe(200);
    expect(Object.keys(upstream.lastBody() as object).toSorted()).toEqual([
      "max_tokens",
      "messages",
      "model",
    ]);
  });
});
