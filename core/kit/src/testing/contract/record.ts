/** Records what a provider really answers to a fixture's request. For people with a key at hand; no test does it. */

import { Buffer } from "node:buffer";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type HttpCall, type JsonObject, type ProviderDefinition, Secret } from "@sluice/spec";
import { request } from "undici";
import { ContractFault } from "./fault.ts";
import { loadCases } from "./fixtures.ts";
import { createRedactor, keptHeaders } from "./redact.ts";
import { makeProvider, requestOf } from "./subject.ts";

/** What to record. */
export interface RecordOptions {
  /** The folder of the package's fixtures. */
  readonly fixtures: URL;
  /** The case: a folder with a `case.json` and a `request.in.json`. */
  readonly name: string;
  /** The model of cases that name none. */
  readonly model: string;
  /** Options of the provider. Options that are secrets are taken out of what is stored. */
  readonly config: JsonObject;
  readonly stream: boolean;
  readonly signal: AbortSignal;
}

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Sends the request of a case and stores the answer beside it, redacted: `reply-recorded.in.json`, `stream-recorded.in.sse` (or
 * `.bin`), `error-recorded-429.in.json`. Gives the file's path. The next run of the contract writes the golden file for reading.
 * Throws `ContractFault` for a case without a request, an answer above 4 MB, and binary frames that hold a secret.
 */
export async function recordCase(definition: ProviderDefinition<never>, options: RecordOptions): Promise<string> {
  const { name, config, stream } = options;
  const folder = fileURLToPath(options.fixtures);
  if (!existsSync(join(folder, name, "request.in.json"))) throw new ContractFault(`${name} has no request.in.json to send.`);
  const each = loadCases(folder, options.model).find((one) => one.name === name);
  if (each === undefined) throw new ContractFault(`There is no case ${name}: ${readdirSync(folder).join(", ")}.`);
  const { model, operation } = each.terms;
  const provider = makeProvider(definition, { ...each.terms.config, ...config });
  const asked = requestOf(
    { ...each.body, ...(stream ? { stream } : {}) },
    { provider: definition.name, model, operation, stream },
  );
  const made = provider.encode(asked);
  if (made.kind !== "http") throw new ContractFault("The provider calls no upstream: there is nothing to record.");
  const call = provider.authorize === undefined ? made : await provider.authorize(made, options.signal);
  const { status, headers, bytes } = await send(call, options.signal);
  const redact = createRedactor([...secretsOf(definition, config), ...headerSecrets(call)]);
  const store = (file: string, content: string | Uint8Array): string => {
    const path = join(folder, name, file);
    writeFileSync(path, content);
    return path;
  };
  if (status < 200 || status > 299) {
    const body = redact(bytes.toString());
    const fixture = { status, headers: keptHeaders(headers, redact), body: parsed(body) };
    return store(`error-recorded-${status}.in.json`, `${JSON.stringify(fixture, null, 2)}\n`);
  }
  if (String(headers["content-type"]).startsWith("application/vnd.amazon.eventstream")) {
    // Frames carry checksums: they are stored as they are, or not at all.
    if (redact(bytes.toString("latin1")).includes("[secret]")) throw new ContractFault("The stream repeats a secret.");
    return store("stream-recorded.in.bin", bytes);
  }
  const text = redact(bytes.toString());
  return stream ? store("stream-recorded.in.sse", text) : store("reply-recorded.in.json", `${text.trimEnd()}\n`);
}

async function send(call: HttpCall, signal: AbortSignal) {
  const headers = Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, shown(value)]));
  const response = await request(call.url, { method: call.method, headers, body: call.body ?? null, signal });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new ContractFault("The answer is longer than a fixture should be.");
    chunks.push(chunk);
  }
  return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) };
}

function shown(value: string | Secret): string {
  return value instanceof Secret ? value.reveal() : value;
}

/** Every option that the definition calls a secret. */
function secretsOf({ config: { properties } }: ProviderDefinition<never>, config: JsonObject): string[] {
  const described = (properties ?? {}) as Readonly<Record<string, JsonObject>>;
  return Object.entries(config).flatMap(([name, value]) => (described[name]?.["x-secret"] === true ? [String(value)] : []));
}

/** Tokens that were fetched, too: with and without the word before them. */
function headerSecrets({ headers }: HttpCall): string[] {
  return Object.values(headers).flatMap((value) => {
    if (!(value instanceof Secret)) return [];
    const text = value.reveal();
    return [text, text.replace(/^\S+ /, "")];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
