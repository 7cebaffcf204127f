/**
 * The native lane of Vertex AI: clients of Anthropic's messages at Claude, and of Google's API at
 * Gemini. The other way round, requests are translated.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anthropicClient, googleClient } from "../support/faces/face-clients.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import {
  createNativeUpstream,
  type NativeRequest,
  type NativeUpstream,
} from "../support/native-upstream.ts";

const PARENT = "/v1beta1/projects/my-project/locations/global/publishers";
let upstream: NativeUpstream;
let gateway: GatewayProcess;
let reply: { readonly type: string; readonly body: string };
const place = () => ({ publicUrl: gateway.publicUrl, key: gateway.masterKey });

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.answer((response, { url }) => {
    const isToken = url.startsWith("/computeMetadata/");
    const { type, body } = isToken
      ? { type: "application/json", body: '{"access_token":"t-1","expires_in":3600}' }
      : reply;
    response.writeHead(200, { "content-type": type }).end(body);
  });
  const at = `metadata_url: ${upstream.url}, base_url: ${upstream.url}`;
  gateway = await startGateway({
    providers: [`vertex: { use: vertex, project: my-project, ${at} }`],
    models: [
      "{ id: claude, targets: [{ provider: vertex, model: claude-sonnet-4-5@20250929 }] }",
      "{ id: gemini, targets: [{ provider: vertex, model: gemini-2.5-flash }] }",
    ],
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const last = (): NativeRequest => upstream.requests.at(-1)!;
const sent = (): unknown => JSON.parse(last().body.toString());

const MESSAGE = {
  id: "msg_vrtx_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content: [{ type: "text", text: "Fine.", of_next_year: 1 }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};
const CONTENT = {
  candidates: [
    {
      content: { role: "model", parts: [{ text: "Fine." }] },
      finishReason: "STOP",
      avgLogprobs: -0.5,
      ofNextYear: 1,
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
  modelVersion: "gemini-2.5-flash-001",
  responseId: "r-1",
};
const json = (value: object): typeof reply => ({
  type: "application/json",
  body: JSON.stringify(value),
});
const events = (values: readonly object[]): typeof reply => ({
  type: "text/event-stream",
  body: values
    .map((value) => {
      const { type } = value as { readonly type?: string };
      return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(value)}\n\n`;
    })
    .join(""),
});

describe("a client of messages at Claude on Vertex AI", () => {
  const asked = {
    max_tokens: 100,
    messages: [{ role: "user" as const, content: "Hi." }],
    of_next_year: [1],
  };

  it("has its document forwarded with the version, and gets the reply as it came", async () => {
    reply = json(MESSAGE);
    const message = await anthropicClient(place()).messages.create(
      { model: "claude", ...asked },
      { headers: { "anthropic-beta": "next-2027-01-01" } },
    );
    expect(message).toMatchObject({ ...MESSAGE, model: "claude" });
    expect(last().url).toBe(`${PARENT}/anthropic/models/claude-sonnet-4-5@20250929:rawPredict`);
    expect(sent()).toEqual({ ...asked, anthropic_version: "vertex-2023-10-16" });
    expect(last().headers).toMatchObject({
      authorization: "Bearer t-1",
      "anthropic-beta": "next-2027-01-01",
    });
    expect(last().headers["anthropic-version"]).toBeUndefined();
  });

  it("gets the stream as it came", async () => {
    const { content: _content, ...head } = MESSAGE;
    reply = events([
      { type: "message_start", message: { ...head, content: [], stop_reason: null } },
      { type: "vertex_event", of_next_year: 1 },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Fine." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ]);
    const types: string[] = [];
    const stream = anthropicClient(place()).messages.stream({ model: "claude", ...asked });
    stream.on("streamEvent", ({ type }) => types.push(type));
    expect(await stream.finalMessage()).toMatchObject({ id: "msg_vrtx_1", model: "claude" });
    expect(types).toContain("vertex_event");
    expect(last().url).toContain(":streamRawPredict");
    expect(sent()).toMatchObject({ stream: true, anthropic_version: "vertex-2023-10-16" });
  });

  it("reaches Gemini by a translation", async () => {
    reply = json(CONTENT);
    const { of_next_year: _member, ...plain } = asked;
    const message = await anthropicClient(place()).messages.create({ model: "gemini", ...plain });
    expect(message).toMatchObject({ model: "gemini", content: [{ text: "Fine." }] });
    expect(sent()).toMatchObject({ contents: [{ role: "user", parts: [{ text: "Hi." }] }] });
  });

  it("is refused at Gemini for what only Claude takes", async () => {
    const asking = anthropicClient(place()).messages.create({ model: "gemini", ...asked });
    await expect(asking).rejects.toThrow(/of_next_year/);
  });
});

describe("a client of Google's API at Gemini on Vertex AI", () => {
  it("has its document forwarded, and gets the reply as it came", async () => {
    reply = json(CONTENT);
    const body = { contents: [{ role: "user", parts: [{ text: "Hi." }] }], ofNextYear: [1] };
    const response = await fetch(`${gateway.publicUrl}/v1beta/models/gemini:generateContent`, {
      method: "POST",
      headers: { "x-goog-api-key": gateway.masterKey, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(await response.json()).toEqual({ ...CONTENT, modelVersion: "gemini" });
    expect(sent()).toEqual(body);
    expect(last().url).toBe(`${PARENT}/google/models/gemini-2.5-flash:generateContent`);
  });

  it("may leave out the role, which Vertex AI requires", async () => {
    reply = json(CONTENT);
    const response = await fetch(`${gateway.publicUrl}/v1beta/models/gemini:generateContent`, {
      method: "POST",
      headers: { "x-goog-api-key": gateway.masterKey, "content-type": "application/json" },
      body: '{"contents":[{"parts":[{"text":"Hi."}]}]}',
    });
    expect(response.status).toBe(200);
    expect(sent()).toEqual({ contents: [{ role: "user", parts: [{ text: "Hi." }] }] });
  });

  it("gets the stream as it came", async () => {
    const { candidates, ...rest } = CONTENT;
    const [{ finishReason: _reason, ...first }] = candidates as [(typeof candidates)[0]];
    reply = events([{ candidates: [first], ...rest }, CONTENT]);
    const got = [];
    const asked = { model: "gemini", contents: "Hi." };
    for await (const each of await googleClient(place()).models.generateContentStream(asked))
      got.push(each);
    expect(got).toMatchObject([
      { responseId: "r-1", modelVersion: "gemini", candidates: [{ avgLogprobs: -0.5 }] },
      { responseId: "r-1", modelVersion: "gemini", candidates: [{ finishReason: "STOP" }] },
    ]);
    expect(last().url).toContain(":streamGenerateContent?alt=sse");
  });

  it("reaches Claude by a translation", async () => {
    reply = json(MESSAGE);
    const said = await googleClient(place()).models.generateContent({
      model: "claude",
      contents: "Hi.",
    });
    expect(said.text).toBe("Fine.");
    expect(sent()).toMatchObject({ anthropic_version: "vertex-2023-10-16", max_tokens: 64_000 });
  });
});
