/**
 * The property of the guardrails of requests: a forbidden word at any string or name of a valid
 * request of any dialect is judged, or does not reach the upstream. `SLUICE_PLANTED=20000` tries as
 * many requests (`npm run verify`); `SLUICE_PLANTED_SEED` chooses others.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { guardedWorkspace } from "./guardrails.fixture.ts";
import {
  createNativeUpstream,
  type NativeRequest,
  type NativeUpstream,
} from "../support/native-upstream.ts";
import { plant, PLANTED } from "../support/planted-places.ts";
import {
  Chance,
  DIALECT_COUNT,
  type PlantedRequest,
  requestOf,
} from "../support/planted-requests.ts";

const COUNT = Number(process.env.SLUICE_PLANTED ?? 500);
const SEED = Number(process.env.SLUICE_PLANTED_SEED ?? 14);
const AT_ONCE = 8;
/**
 * Every so many requests goes without the word, and must arrive: a gateway that refuses everything
 * proves nothing.
 */
const CONTROL_EVERY = 10;

let upstream: NativeUpstream;
let gateway: GatewayProcess;
/** Requests of the upstream with the word in them. */
const leaked: NativeRequest[] = [];

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.answer((response, request) => {
    if (holdsWord(request)) leaked.push(request);
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(replyTo(request.url)));
  });
  const keys = 'api_key: "${env:NATIVE_KEY}"';
  const to = (provider: string, more = ""): string =>
    `targets: [{ provider: ${provider}, model: m${more} }]`;
  const workspace = guardedWorkspace({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    providers: [
      ...["gemini", "cohere", "mistral", "anthropic"].map(
        (name) => `${name}: { use: ${name}, ${keys}, base_url: ${upstream.url} }`,
      ),
      `bedrock: { use: bedrock, region: us-east-1, ${keys}, base_url: ${upstream.url} }`,
      `ollama: { use: compatible, preset: ollama, base_url: ${upstream.url}/v1 }`,
      `local: { use: compatible, base_url: ${upstream.url}/v1 }`,
    ],
    models: [
      ...["anthropic", "gemini", "cohere", "mistral", "bedrock", "local"].map(
        (name) => `{ id: ${name}, ${to(name)} }`,
      ),
      `{ id: openai, ${to("openai", ", forward_metadata: true")} }`,
      `{ id: vectors, mode: embedding, ${to("openai")} }`,
      `{ id: pictures, mode: image, targets: [{ provider: openai, model: gpt-image-1 }] }`,
    ],
    guardrails: [`no-bad: { use: forbid, word: ${PLANTED} }`],
    step: "{ input: [no-bad] }",
  });
  gateway = await startGateway(workspace, { NATIVE_KEY: "a-native-credential-0123456789" });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/**
 * Whether the word stands in a request, in its strings and names as they are parsed, or in its
 * address.
 */
function holdsWord({ url, body }: NativeRequest): boolean {
  const text = body.toString("utf8");
  return (
    decodeURIComponent(url).includes(PLANTED) ||
    text.includes(PLANTED) ||
    JSON.stringify(JSON.parse(text)).includes(PLANTED)
  );
}

/** Replies that are valid, so that no deployment is ejected. */
function replyTo(url: string): object {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (url.includes("embeddings")) {
    return {
      object: "list",
      data: [0, 1].map((index) => ({ index, object: "embedding", embedding: [0.5] })),
      usage,
    };
  }
  if (url.includes("images")) return { created: 1, data: [{ b64_json: "AAAA" }] };
  if (url.includes("/messages")) {
    const counts = { input_tokens: 1, output_tokens: 1 };
    return {
      id: "m",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "ok" }],
      stop_reason: "end_turn",
      usage: counts,
    };
  }
  if (url.includes("generateContent"))
    return { candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] };
  if (url.includes("/v2/chat")) {
    return {
      id: "c",
      finish_reason: "COMPLETE",
      message: { role: "assistant", content: [{ type: "text", text: "ok" }] },
    };
  }
  if (url.includes("converse"))
    return {
      output: { message: { role: "assistant", content: [{ text: "ok" }] } },
      stopReason: "end_turn",
    };
  return {
    id: "c",
    choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
    usage,
  };
}

async function send({
  path,
  body,
}: PlantedRequest): Promise<{ readonly status: number; readonly outcome: string }> {
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { status } = response;
  const { error } = (await response.json()) as { readonly error?: { readonly type: string } };
  return { status, outcome: `${status} ${error?.type ?? ""}`.trim() };
}

describe(`a word planted into ${COUNT} requests of ${DIALECT_COUNT} kinds`, () => {
  it(
    "is judged, or does not reach the upstream",
    async () => {
      const faults: string[] = [];
      const outcomes: Record<string, number> = {};
      let next = 0;
      const work = async (): Promise<void> => {
        while (next < COUNT) {
          const number = next++;
          const chance = new Chance(SEED * 1_000_003 + number);
          const request = requestOf(Math.floor(number / CONTROL_EVERY) + number, chance);
          if (number % CONTROL_EVERY === 0) {
            // oxlint-disable-next-line no-await-in-loop -- so many at a time and no more.
            const { status } = await send(request);
            if (status !== 200)
              faults.push(
                `${status} for an ordinary request: ${request.path} ${JSON.stringify(request.body)}`,
              );
            continue;
          }
          const { how, body } = plant(request.body, chance);
          // oxlint-disable-next-line no-await-in-loop -- as above.
          const { status, outcome } = await send({ ...request, body });
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          if (status >= 500)
            faults.push(`${status} for ${how}: ${request.path} ${JSON.stringify(body)}`);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      // oxlint-disable-next-line no-console -- the figures are for the person that runs the suite.
      console.info(
        `planted: ${COUNT} requests, ${JSON.stringify(outcomes)}, ${leaked.length} forwarded with the word`,
      );
      for (const { url, body } of leaked.slice(0, 20))
        faults.push(`forwarded: ${url} ${body.toString("utf8")}`);
      expect(
        faults.map((fault) => fault.replaceAll(/[A-Za-z0-9+/]{120,}={0,2}/g, "…").slice(0, 900)),
      ).toEqual([]);
    },
    Math.max(60_000, COUNT * 60),
  );
});
