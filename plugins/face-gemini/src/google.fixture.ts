/** The provider of Google and the face, one behind the other. */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type ClientRequest,
  type EncodedCall,
  type JsonObject,
  type JsonValue,
  type ProviderRequest,
  Secret,
  type StreamSink,
} from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { gemini as google } from "@sluice/provider-google";
import { bodyText, fakeHost } from "@sluice/testing";
import { gemini } from "./index.ts";

export const face = gemini.create({}, fakeHost());

const provider = google.create(
  {
    api_key: new Secret("api_key", "k-1"),
    base_url: "https://generativelanguage.googleapis.com",
    version: "v1beta",
  },
  fakeHost(),
);

/** A case of a table of fixtures. */
export interface Row {
  readonly name: string;
  readonly given?: JsonValue;
  readonly file?: string;
  readonly expected?: JsonObject;
}

const FOLDER = new URL("../../provider-google/fixtures/gemini/", import.meta.url);

/** The cases of the provider's own fixtures, by `table/case`. */
export function googleCases(): readonly (readonly [string, Row])[] {
  const folder = fileURLToPath(FOLDER);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".cases.json"))
    .flatMap((name) => {
      const { cases } = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as {
        readonly cases: readonly Row[];
      };
      const table = name.replace(".cases.json", "");
      return cases.map((row) => [`${table}/${row.name}`, row] as const);
    });
}

/** The bytes of a case's file. */
export function fileOf(path: string): string {
  return readFileSync(new URL(path, FOLDER), "utf8");
}

/** A request of a client of the face. */
export function clientOf(address: string, headers: Readonly<Record<string, string>> = {}) {
  const [path = "", query = ""] = address.split("?");
  const model = /\/models\/(.+)$/.exec(path)?.[1];
  const client: ClientRequest = {
    method: "POST",
    path,
    query,
    parameters: model === undefined ? {} : { model },
    header: (name) => headers[name],
    address: null,
  };
  return client;
}

/** The provider's request for a body of the reference dialect. */
export function providerRequest(body: JsonObject, model = String(body.model)): ProviderRequest {
  return {
    operation: "chat",
    document: documentOf(JSON.stringify(body)),
    target: { id: `google/${model}`, provider: "google", model },
    replyModel: "contract/model",
    stream: body.stream === true,
    replyId: "chatcmpl-contract",
    createdSeconds: 1_767_225_600,
  };
}

/** What the provider sends upstream for a body of the reference dialect. */
export function sent(body: JsonObject): JsonObject {
  const call = provider.encode(providerRequest(body)) as EncodedCall;
  return JSON.parse(bodyText(call.body)) as JsonObject;
}

/** The reply of an upstream in the reference dialect. */
export function decoded(body: JsonObject, reply: JsonValue): JsonObject {
  const bytes = Buffer.from(JSON.stringify(reply));
  return provider.decode(bytes, providerRequest(body)).document.value;
}

/** The chunks of the reference dialect of an upstream's stream. */
export function chunksOf(body: JsonObject, events: string): readonly JsonObject[] {
  const chunks: JsonObject[] = [];
  const sink: StreamSink = {
    committed: false,
    frame: (frame) => void chunks.push(frame.chunk()),
    usage: () => undefined,
    done: () => undefined,
  };
  const translator = provider.stream(providerRequest(body));
  for (const line of events.split(/\r?\n/))
    if (line.startsWith("data: "))
      translator.event({ event: undefined, data: line.slice(6) }, sink);
  translator.end?.(sink);
  return chunks;
}
