/**
 * Native bodies that the gateway cannot read and an upstream may: parsers of some upstreams take
 * more than JSON, in other encodings. At an endpoint that takes JSON they are refused.
 */

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const CREDENTIAL = 'api_key: "${env:OPENAI_API_KEY}"';

type Sent = string | Uint8Array<ArrayBuffer>;

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const keys: Record<string, string> = {};

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.reply(200, "application/json", "{}");
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    models: ["{ id: fast, targets: [{ provider: openai, model: up-fast }] }"],
    providers: [
      `gemini: { use: gemini, ${CREDENTIAL}, base_url: ${upstream.url} }`,
      `bedrock: { use: bedrock, ${CREDENTIAL}, region: eu-west-1, base_url: ${upstream.url} }`,
      `anthropic: { use: anthropic, ${CREDENTIAL}, base_url: ${upstream.url} }`,
      `own: { use: compatible, ${CREDENTIAL}, base_url: ${upstream.url} }`,
    ],
  });
  keys["limited"] = (await createKey(gateway, { models: ["gemini/m", "bedrock/m"] })).key;
  keys["free"] = (await createKey(gateway, {})).key;
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function ask(key: string, path: string, body: Sent, headers: object = {}) {
  const before = upstream.requests.length;
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${keys[key]}`,
      "content-type": "application/json",
      ...headers,
    },
    body,
  });
  const text = await response.text();
  return { status: response.status, calls: upstream.requests.length - before, text };
}

const NAMED = '"contents":[{"parts":[{"text":"Hi."}]}],"cachedContent":"cachedContents/other"';
const DEEP = `${"[".repeat(70)}${"]".repeat(70)}`;
const WIDE = Array.from({ length: 1_100 }, (_, at) => `"m${at}":1`).join(",");
const UNREAD: readonly (readonly [string, Sent, object?])[] = [
  ["single quotes", `{${NAMED.replaceAll('"', "'")}}`],
  ["names without quotes", `{${NAMED},a:1}`],
  ["a comma at the end", `{${NAMED},}`],
  ["a number that JSON does not have", `{${NAMED},"a":NaN}`],
  ["a comment", `/**/{${NAMED}}`],
  ["a list", `[{${NAMED}}]`],
  ["much space before", `${" ".repeat(5_000)}{${NAMED},}`],
  ["UTF-16", Buffer.from(`{${NAMED}}`, "utf16le")],
  ["UTF-16, big end first", Buffer.from(`{${NAMED}}`, "utf16le").swap16()],
  ["a byte that is no UTF-8", Buffer.from(`{${NAMED},"a":"\u00ff"}`, "latin1")],
  ["a line break in a text", `{${NAMED},"a":"\n"}`],
  ["many levels as text", `{${NAMED},"a":${DEEP}}`, { "content-type": "text/plain" }],
  ["many members as text", `{${NAMED},${WIDE}}`, { "content-type": "text/plain" }],
  ["8 MiB as text", `{${NAMED},"a":"${"a".repeat(9 << 20)}"}`, { "content-type": "text/plain" }],
  ["gzip of such a text", gzipSync(`{${NAMED},}`), { "content-encoding": "gzip" }],
  [
    "fields of a form",
    "cachedContent=cachedContents/other",
    { "content-type": "application/x-www-form-urlencoded" },
  ],
];
const PATHS = [
  "/gemini/v1beta/models/m:generateContent",
  "/gemini/v1beta/models/m:countTokens",
  "/bedrock/model/m/converse",
];

describe.each(["limited", "free"])("of a key that is %s", (key) => {
  it.each(
    PATHS.flatMap((path) =>
      UNREAD.map(([what, body, headers]) => [path, what, body, headers] as const),
    ),
  )("%s: %s", async (path, _what, body, headers) => {
    const got = await ask(key, path, body, headers);
    expect(got).toMatchObject({ status: 400, calls: 0 });
  });
});

it.each([
  "/openai/v1/chat/completions",
  "/openai/v1/images/generations",
  "/anthropic/v1/messages",
  "/own/v1/chat/completions",
])("hide no model at %s", async (path) => {
  for (const [what, body, headers] of UNREAD) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other.
    const got = await ask("free", path, body, headers);
    expect([what, got.status, got.calls]).toEqual([what, 400, 0]);
  }
});

it("name no object at a path that a provider does not declare", async () => {
  const path = "/own/v1beta/models/m:generateContent";
  expect(await ask("free", path, `{${NAMED}}`)).toMatchObject({ status: 403, calls: 0 });
  const objects = UNREAD.filter(
    ([what]) => !["a comment", "a list", "fields of a form"].includes(what),
  );
  for (const [what, body, headers] of objects) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other.
    const got = await ask("free", path, body, headers);
    expect([what, got.status, got.calls]).toEqual([what, 400, 0]);
  }
});

describe.each(["multipart/form-data; boundary=x", "multipart/mixed; boundary=x"])(
  "an object of JSON under the type %s",
  (type) => {
    it("names no object of the account", async () => {
      for (const path of PATHS)
        // oxlint-disable-next-line no-await-in-loop -- three.
        expect(await ask("free", path, `{${NAMED}}`, { "content-type": type })).toMatchObject({
          status: 403,
          calls: 0,
        });
    });

    it("names its model", async () => {
      const { key } = await createKey(gateway, { per_model: { fast: { rpm: 1 } } });
      keys["bounded"] = key;
      const said = JSON.stringify({ model: "up-fast", prompt: "Hi." });
      const statuses: number[] = [];
      for (const path of ["chat/completions", "images/generations", "images/edits"])
        statuses.push(
          // oxlint-disable-next-line no-await-in-loop -- in order.
          (await ask("bounded", `/openai/v1/${path}`, said, { "content-type": type })).status,
        );
      expect(statuses).toEqual([200, 429, 429]);
    });
  },
);

it.each<readonly [string, Sent, object]>([
  ["/gemini/v1beta/models/m:generateContent", "{}", {}],
  ["/gemini/v1beta/models/m:generateContent", "\ufeff { }\n", { "content-type": "text/plain" }],
  ["/gemini/v1beta/models/m:generateContent", "", {}],
  ["/openai/v1/chat/completions", '{"model":"x","messages":[]}', { "content-type": "text/json" }],
  [
    "/openai/v1/audio/transcriptions",
    "--x--",
    { "content-type": "multipart/form-data; boundary=x" },
  ],
  ["/own/batch", '[{"a":1}]', {}],
  ["/own/form", "a=1&b=2", { "content-type": "application/x-www-form-urlencoded" }],
  ["/own/audio/raw", Buffer.from([1, 200, 3]), { "content-type": "audio/wav" }],
])("%s takes %j", async (path, body, headers) => {
  expect(await ask("free", path, body, headers)).toMatchObject({ status: 200, calls: 1 });
});
