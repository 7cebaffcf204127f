/**
 * Records what a provider really answers to a fixture's request. For people with a key at hand; no
 * test does it.
 */

import { Buffer } from "node:buffer";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type HttpCall,
  type JsonObject,
  type JsonValue,
  type ProviderDefinition,
  Secret,
} from "@sluice/contract";
import { request } from "undici";
import { tablePath, writeRow } from "./case-table.ts";
import { ContractFault } from "./fault.ts";
import { bodyText } from "./outcome.ts";
import { loadCases } from "./fixtures.ts";
import { createRedactor, keptHeaders } from "./redact.ts";
import { makeProvider, requestOf } from "./subject.ts";

/** What to record. */
export interface RecordOptions {
  /** The folder of the package's fixtures. */
  readonly fixtures: URL;
  /**
   * The table: `text` for `text.cases.json`, `groq/chat` for one in a folder. It has a case
   * `request`.
   */
  readonly name: string;
  /** The model of tables that name none. */
  readonly model: string;
  /** Options of the provider. Options that are secrets are taken out of what is stored. */
  readonly config: JsonObject;
  readonly stream: boolean;
  readonly signal: AbortSignal;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Where a recorded answer stands. */
export interface Recorded {
  /** The file: the table itself for an error. */
  readonly path: string;
  /** The name of the case in the table. */
  readonly name: string;
}

/**
 * Sends the case `request` of a table and stores the answer, redacted, as a case that says when it
 * was recorded. A reply and a stream are files as they came (`reply-recorded.json`,
 * `stream-recorded.sse` or `.bin`, in the folder of the table's name), an error
 * (`error-recorded-429`) stands in the table. The next run of the contract writes `expected`.
 * Throws `ContractFault` for a table without the case `request`, an answer above 4 MB, and binary
 * frames that hold a secret.
 */
export async function recordCase(
  definition: ProviderDefinition<never>,
  options: RecordOptions,
): Promise<Recorded> {
  const { config, stream } = options;
  const name = basename(options.name);
  const folder = join(fileURLToPath(options.fixtures), dirname(options.name));
  const tables = loadCases(folder, options.model);
  const each = tables.find((one) => one.name === name);
  if (each === undefined) {
    throw new ContractFault(
      `There is no table ${name}: ${tables.map((one) => one.name).join(", ")}.`,
    );
  }
  if (each.fixtures.every(({ title }) => title !== `${name}/request`)) {
    throw new ContractFault(`${name} has no case "request" to send.`);
  }
  const { model, operation } = each.terms;
  const provider = makeProvider(definition, { ...each.terms.config, ...config });
  const asked = requestOf(
    { ...each.body, ...(stream ? { stream } : {}) },
    { provider: definition.name, model, operation, stream },
  );
  const made = provider.encode(asked);
  if (made.kind !== "http")
    throw new ContractFault("The provider calls no upstream: there is nothing to record.");
  const written: HttpCall = { ...made, body: bodyText(made.body) };
  const call =
    provider.authorize === undefined ? written : await provider.authorize(written, options.signal);
  const { status, headers, bytes } = await send(call, options.signal);
  const redact = createRedactor([...secretsOf(definition, config), ...headerSecrets(call)]);
  const table = tablePath(folder, name);
  const source = `recorded ${new Date().toISOString().slice(0, 10)}, ${model}`;
  const store = (row: string, ending: string, content: string | Uint8Array): Recorded => {
    const file = `${name}/${row}.${ending}`;
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, file), content);
    writeRow(table, { name: row, source, file });
    return { path: join(folder, file), name: row };
  };
  if (status < 200 || status > 299) {
    const given = {
      status,
      headers: keptHeaders(headers, redact),
      body: parsed(redact(bytes.toString())),
    };
    writeRow(table, { name: `error-recorded-${status}`, source, given });
    return { path: table, name: `error-recorded-${status}` };
  }
  if (String(headers["content-type"]).startsWith("application/vnd.amazon.eventstream")) {
    // Frames carry checksums: they are stored as they are, or not at all.
    if (redact(bytes.toString("latin1")).includes("[secret]"))
      throw new ContractFault("The stream repeats a secret.");
    return store("stream-recorded", "bin", bytes);
  }
  const text = redact(bytes.toString());
  return stream
    ? store("stream-recorded", "sse", text)
    : store("reply-recorded", "json", `${text.trimEnd()}\n`);
}

async function send(call: HttpCall, signal: AbortSignal) {
  const headers = Object.fromEntries(
    Object.entries(call.headers).map(([name, value]) => [name, shown(value)]),
  );
  const response = await request(call.url, {
    method: call.method,
    headers,
    body: call.body ?? null,
    signal,
  });
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
function secretsOf(
  { config: { properties } }: ProviderDefinition<never>,
  config: JsonObject,
): string[] {
  const described = (properties ?? {}) as Readonly<Record<string, JsonObject>>;
  return Object.entries(config).flatMap(([name, value]) =>
    described[name]?.["x-secret"] === true ? [String(value)] : [],
  );
}

/** Tokens that were fetched, too: with and without the word before them. */
function headerSecrets({ headers }: HttpCall): string[] {
  return Object.values(headers).flatMap((value) => {
    if (!(value instanceof Secret)) return [];
    const text = value.reveal();
    return [text, text.replace(/^\S+ /, "")];
  });
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
