/** Sends planted requests to a gateway, and watches an upstream for the word. */

import type { GatewayProcess } from "../gateway-process.ts";
import {
  createNativeUpstream,
  type NativeRequest,
  type NativeUpstream,
} from "../native-upstream.ts";
import { largeText } from "./large.ts";
import { plant, PLANTED } from "./places.ts";
import { Chance, type PlantedRequest } from "./requests.ts";
import type { WorkspaceOptions } from "../workspace.ts";

const AT_ONCE = 8;
/**
 * Every so many requests goes without the word, and must arrive: a gateway that refuses everything
 * proves nothing.
 */
const CONTROL_EVERY = 10;
/** Every so many requests goes in the large form. */
const LARGE_EVERY = 7;

/** The environment of a gateway with `plantedWorkspace`. */
export const PLANTED_ENVIRONMENT = { NATIVE_KEY: "a-native-credential-0123456789" };

/** A gateway file with a model of every provider at one address. */
export function plantedWorkspace(url: string): WorkspaceOptions {
  const keys = 'api_key: "${env:NATIVE_KEY}"';
  const to = (provider: string, more = ""): string =>
    `targets: [{ provider: ${provider}, model: m${more} }]`;
  return {
    baseUrl: `${url}/v1`,
    attempts: 1,
    // Its native lane must not be taken by a request that is judged.
    provider: "responses: true",
    providers: [
      ...["gemini", "cohere", "mistral", "anthropic"].map(
        (name) => `${name}: { use: ${name}, ${keys}, base_url: ${url} }`,
      ),
      `bedrock: { use: bedrock, region: us-east-1, ${keys}, base_url: ${url} }`,
      `ollama: { use: compatible, preset: ollama, base_url: ${url}/v1 }`,
      `local: { use: compatible, base_url: ${url}/v1 }`,
    ],
    models: [
      ...["anthropic", "gemini", "cohere", "mistral", "bedrock", "local"].map(
        (name) => `{ id: ${name}, ${to(name)} }`,
      ),
      `{ id: openai, ${to("openai", ", forward_metadata: true")} }`,
      `{ id: vectors, mode: embedding, ${to("openai")} }`,
      `{ id: pictures, mode: image, targets: [{ provider: openai, model: gpt-image-1 }] }`,
    ],
  };
}

/** An upstream that keeps the requests with the word in them. */
export interface WatchedUpstream extends NativeUpstream {
  readonly leaked: readonly NativeRequest[];
}

/** Starts such an upstream. */
export async function createWatchedUpstream(): Promise<WatchedUpstream> {
  const upstream = await createNativeUpstream();
  const leaked: NativeRequest[] = [];
  upstream.answer((response, request) => {
    if (holdsWord(request)) leaked.push(request);
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(replyTo(request.url)));
  });
  return { ...upstream, leaked };
}

/**
 * Whether the word stands in a request, in its strings and names as they are parsed, in its
 * address, or in its headers.
 */
function holdsWord({ url, headers, body }: NativeRequest): boolean {
  const text = body.toString("utf8");
  return (
    decodeURIComponent(url).includes(PLANTED) ||
    JSON.stringify(headers).includes(PLANTED) ||
    unescaped(text).includes(PLANTED) ||
    JSON.stringify(JSON.parse(text)).includes(PLANTED)
  );
}

/** A text whose escaped letters are letters, also those of members that a parser drops. */
function unescaped(text: string): string {
  return text.replaceAll(/\\u00([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Replies that are valid, so that no deployment is ejected. */
function replyTo(url: string): object {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const data = [0, 1].map((index) => ({ index, object: "embedding", embedding: [0.5] }));
  if (url.includes("embeddings")) return { object: "list", data, usage };
  if (url.includes("images")) return { created: 1, data: [{ b64_json: "AAAA" }] };
  const content = [{ type: "text", text: "ok" }];
  if (url.endsWith("/responses"))
    return { id: "resp_0123456789", object: "response", status: "completed", output: [] };
  if (url.includes("/messages")) {
    const counts = { input_tokens: 1, output_tokens: 1 };
    const head = { id: "m", type: "message", role: "assistant" };
    return { ...head, content, stop_reason: "end_turn", usage: counts };
  }
  if (url.includes("generateContent"))
    return { candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] };
  if (url.includes("/v2/chat"))
    return { id: "c", finish_reason: "COMPLETE", message: { role: "assistant", content } };
  if (url.includes("converse"))
    return {
      output: { message: { role: "assistant", content: [{ text: "ok" }] } },
      stopReason: "end_turn",
    };
  const message = { role: "assistant", content: "ok" };
  return { id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage };
}

/** A run of planted requests. */
export interface PlantedRun {
  readonly count: number;
  readonly seed: number;
  readonly gateway: Pick<GatewayProcess, "publicUrl" | "masterKey">;
  readonly upstream: WatchedUpstream;
  requestOf(kind: number, chance: Chance): PlantedRequest;
}

/** What a run has found. */
export interface PlantedFindings {
  /** Requests by status and type of error. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Ordinary requests that were refused, statuses from 500, and requests with the word. */
  readonly faults: readonly string[];
}

/** Sends the requests, so many at a time. */
export async function runPlanted(run: PlantedRun): Promise<PlantedFindings> {
  const { count, seed, requestOf, upstream } = run;
  const faults: string[] = [];
  const outcomes: Record<string, number> = {};
  let next = 0;
  const sendOne = async (number: number): Promise<void> => {
    const chance = new Chance(seed * 1_000_003 + number);
    const request = requestOf(Math.floor(number / CONTROL_EVERY) + number, chance);
    const isControl = number % CONTROL_EVERY === 0;
    const { how, body } = isControl
      ? { how: "an ordinary request", body: request.body }
      : plant(request.body, chance);
    const isLarge = number % LARGE_EVERY === 0;
    const text = isLarge ? largeText(body, chance) : JSON.stringify(body);
    const { status, outcome, said } = await send(run, request.path, text);
    const form = isLarge ? "large" : "small";
    if (!isControl) outcomes[`${form} ${outcome}`] = (outcomes[`${form} ${outcome}`] ?? 0) + 1;
    if (status >= 500 || (isControl && status !== 200))
      faults.push(`${status} for ${how}, ${form}: ${request.path} ${said} ${JSON.stringify(body)}`);
  };
  const work = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- so many at a time and no more.
    while (next < count) await sendOne(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  for (const { url, headers, body } of upstream.leaked.slice(0, 20))
    faults.push(`forwarded: ${url} ${body.toString("utf8")} ${JSON.stringify(headers)}`);
  return { outcomes, faults: faults.map(shortened) };
}

function shortened(fault: string): string {
  return fault.replaceAll(/[A-Za-z0-9+/]{120,}={0,2}/g, "…").slice(0, 1_200);
}

async function send(
  { gateway }: PlantedRun,
  path: string,
  body: string,
): Promise<{ readonly status: number; readonly outcome: string; readonly said: string }> {
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body,
  });
  const { status } = response;
  const { error } = (await response.json()) as {
    readonly error?: { readonly type?: string; readonly status?: string; readonly message: string };
  };
  const kind = error?.type ?? error?.status ?? "";
  return { status, outcome: `${status} ${kind}`.trim(), said: error?.message ?? "" };
}
