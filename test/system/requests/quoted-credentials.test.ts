/**
 * An upstream that quotes the gateway's credential: in a word, in a text, in an event. No client
 * reads it.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { chat, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

// The first has the form of OpenAI's keys; the second has none that is known.
const KEYS = ["sk-upstream-credential-of-the-tests-9876543210", "0f3a9c4477d84b5e9e1d2c3b4a596877"];

let upstream: NativeUpstream;
const gateways: GatewayProcess[] = [];

beforeAll(async () => {
  upstream = await createNativeUpstream();
  for (const key of KEYS)
    gateways.push(
      await startGateway({ baseUrl: `${upstream.url}/v1`, attempts: 1 }, { OPENAI_API_KEY: key }),
    );
}, 120_000);
afterAll(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.dispose()));
  await upstream?.close();
});

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const FIRST = event({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: { content: "a" } }],
});

const REPLIES: readonly (readonly [string, boolean, number, (key: string) => string])[] = [
  [
    "a refusal's message",
    false,
    400,
    (key) => JSON.stringify({ error: { message: `Bad: ${key}.` } }),
  ],
  [
    "a refusal's code",
    false,
    400,
    (key) => JSON.stringify({ error: { message: "Bad.", code: key } }),
  ],
  [
    "a refusal's type and param",
    false,
    400,
    (key) => JSON.stringify({ error: { message: "Bad.", type: key, param: key } }),
  ],
  [
    "a long refusal",
    false,
    400,
    (key) => JSON.stringify({ error: { message: `${"x ".repeat(240)} ${key}` } }),
  ],
  [
    "a failure",
    false,
    500,
    (key) => JSON.stringify({ error: { message: `Bearer ${key}`, code: `x${key}` } }),
  ],
  [
    "a spent quota",
    false,
    429,
    (key) =>
      JSON.stringify({ error: { message: `Key ${key}: ${encodeURIComponent(key)}`, code: "a" } }),
  ],
  [
    "an error with status 200",
    false,
    200,
    (key) => JSON.stringify({ error: { message: `Bad: ${key}`, code: 500 } }),
  ],
  [
    "the first event of a stream",
    true,
    200,
    (key) => event({ error: { message: `Bad: ${key}`, code: key } }),
  ],
  [
    "a later event of a stream",
    true,
    200,
    (key) => FIRST + event({ error: { message: `Bad: ${key}`, code: 500 } }),
  ],
];

it.each(REPLIES)("%s keeps it to itself", async (_name, stream, status, bodyOf) => {
  for (const [index, gateway] of gateways.entries()) {
    const key = KEYS[index] ?? "";
    upstream.reply(status, stream ? "text/event-stream" : "application/json", bodyOf(key));
    const answer = await chat(gateway, {
      model: "gpt-4o-mini",
      stream,
      num_retries: 0,
      messages: [{ role: "user", content: "Hi" }],
    });
    const text = await answer.text();
    expect(text).toContain("error");
    const rows = await rowsOf(gateway, answer.headers.get("x-request-id"));
    for (const seen of [
      text,
      JSON.stringify([...answer.headers]),
      JSON.stringify(rows),
      gateway.stderr,
    ]) {
      expect(seen).not.toContain(key.slice(0, 20));
    }
  }
});
