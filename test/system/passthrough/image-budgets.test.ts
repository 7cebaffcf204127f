/**
 * Native images that are billed by the piece: they are counted in replies, and budgets reserve
 * them.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createWorkspace } from "../support/workspace.ts";

const KEY = 'api_key: "${env:OPENAI_API_KEY}"';
const FORM = "multipart/form-data; boundary=b";
const JSON_TYPE = "application/json";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const at = `${KEY}, base_url: ${upstream.url}`;
  gateway = await startGateway(
    createWorkspace({
      baseUrl: `${upstream.url}/v1`,
      providers: [`stability: { use: stability, ${at} }`, `gemini: { use: gemini, ${at} }`],
    }),
  );
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

function form(fields: Readonly<Record<string, string>>): string {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join("")}--b--\r\n`;
}

const openaiImages = (count: number): object => ({
  created: 1,
  data: Array.from({ length: count }, () => ({ b64_json: "AAAA" })),
});

/** Calls, the answer, and the list price in dollars. */
const CASES: readonly [
  what: string,
  path: string,
  body: string,
  type: string,
  reply: object,
  dollars: number,
][] = [
  [
    "Stability",
    "/stability/v2beta/stable-image/generate/ultra",
    form({ prompt: "cat" }),
    FORM,
    { image: "AAAA", finish_reason: "SUCCESS" },
    0.08,
  ],
  [
    "OpenAI, of a higher quality",
    "/openai/v1/images/generations",
    JSON.stringify({ model: "dall-e-3", prompt: "cat", quality: "hd", size: "1024x1792" }),
    JSON_TYPE,
    openaiImages(1),
    0.12,
  ],
  [
    "OpenAI, a form",
    "/openai/v1/images/edits",
    form({ model: "dall-e-2", n: "4", prompt: "cat" }),
    FORM,
    openaiImages(4),
    0.08,
  ],
  [
    "Imagen",
    "/gemini/v1beta/models/imagen-4.0-ultra-generate-001:predict",
    JSON.stringify({ instances: [{ prompt: "cat" }], parameters: { sampleCount: 2 } }),
    JSON_TYPE,
    { predictions: [{ bytesBase64Encoded: "AAAA" }, { bytesBase64Encoded: "AAAA" }] },
    0.12,
  ],
];

function post(
  path: string,
  body: string,
  type: string,
  key = gateway.masterKey,
): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": type };
  return fetch(`${gateway.publicUrl}${path}`, { method: "POST", body, headers });
}

describe("native images that are billed by the piece", () => {
  it.each(CASES)("cost what was made: %s", async (_what, path, body, type, reply, dollars) => {
    upstream.reply(200, JSON_TYPE, JSON.stringify(reply));
    const answer = await post(path, body, type);
    await answer.text();
    const [row] = await rowsOf(gateway, answer.headers.get("x-request-id"));
    expect(row).toMatchObject({ cost_status: "priced", usage_source: "provider" });
    expect(row?.spend ?? Number.NaN).toBeCloseTo(dollars, 6);
  });

  it.each(CASES)(
    "are reserved: one of eight at once fits the budget: %s",
    async (_what, path, body, type, reply, dollars) => {
      const { key } = await createKey(gateway, { max_budget: dollars * 1.5 });
      const waiting: (() => void)[] = [];
      let isRefused = 0;
      upstream.answer((response) => {
        waiting.push(
          () =>
            void (
              response.headersSent ||
              response.writeHead(200, { "content-type": JSON_TYPE }).end(JSON.stringify(reply))
            ),
        );
        // The answer comes when all others were refused.
        if (waiting.length > 1 || isRefused === 7) for (const end of waiting) end();
      });
      const answers = Array.from({ length: 8 }, async () => {
        const answer = await post(path, body, type, key);
        if (answer.status !== 200) isRefused += 1;
        if (isRefused === 7) for (const end of waiting) end();
        await answer.text();
        return answer.status;
      });
      expect((await Promise.all(answers)).toSorted()).toEqual([
        200, 429, 429, 429, 429, 429, 429, 429,
      ]);
    },
  );

  it.each(CASES)(
    "cost what was reserved where the reply is cut: %s",
    async (_what, path, body, type, reply, dollars) => {
      const text = JSON.stringify(reply);
      for (const sent of [0, text.length - 4]) {
        const { key } = await createKey(gateway, { max_budget: dollars * 1.5 });
        upstream.answer((response) => {
          const headers = { "content-type": JSON_TYPE, "content-length": text.length };
          response.writeHead(200, headers).write(text.slice(0, sent), () => response.destroy());
          response.flushHeaders();
        });
        const first = await post(path, body, type, key);
        await first.text().catch(() => undefined);
        const rows = await rowsOf(gateway, first.headers.get("x-request-id"));
        expect(rows.map(({ usage_source }) => usage_source)).toEqual(["estimated"]);
        expect(rows[0]?.spend ?? Number.NaN).toBeCloseTo(dollars, 6);
        const second = await post(path, body, type, key);
        await second.text();
        expect(second.status).toBe(429);
      }
    },
  );

  it("in a reply that is the image itself cost one piece", async () => {
    upstream.reply(200, "image/png", Uint8Array.from([137, 80, 78, 71]), {
      "finish-reason": "SUCCESS",
    });
    const body = form({ prompt: "cat" });
    const answer = await post("/stability/v2beta/stable-image/generate/ultra", body, FORM);
    await answer.arrayBuffer();
    const [row] = await rowsOf(gateway, answer.headers.get("x-request-id"));
    expect(row?.spend).toBeCloseTo(0.08, 6);
  });

  it("of Stability's service sd3 are of its own models, whatever the form names", async () => {
    const { key } = await createKey(gateway, { models: ["stability/stable-image-core"] });
    const body = form({ prompt: "cat", model: "stable-image-core" });
    const answer = await post("/stability/v2beta/stable-image/generate/sd3", body, FORM, key);
    await answer.text();
    expect(answer.status).toBe(404);
  });
});
