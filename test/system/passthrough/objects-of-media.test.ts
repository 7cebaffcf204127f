/**
 * Objects of the account that images, speech, documents and predictions are made of: a key reaches
 * none of them, in JSON and in forms.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const KEY = 'api_key: "${env:OPENAI_API_KEY}"';
const PREDICT = "/vertex/v1/projects/p/locations/us-central1/publishers/google/models/m:predict";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const keys: Record<string, string> = {};

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const token = { access_token: "t", expires_in: 3_600, token_type: "Bearer" };
  upstream.reply(200, "application/json", JSON.stringify(token));
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    providers: [
      `mistral: { use: mistral, ${KEY}, base_url: ${upstream.url} }`,
      `cohere: { use: cohere, ${KEY}, base_url: ${upstream.url} }`,
      `opened: { use: mistral, ${KEY}, base_url: ${upstream.url}, endpoints: all }`,
      `vertex: { use: vertex, project: p, location: us-central1, base_url: ${upstream.url}, metadata_url: ${upstream.url} }`,
    ],
  });
  const models = ["openai/*", "mistral/*", "cohere/*", "vertex/*"];
  const made = { owner: { passthrough: true }, other: {}, limited: { models, passthrough: true } };
  for (const [name, fields] of Object.entries(made))
    // oxlint-disable-next-line no-await-in-loop -- three keys.
    keys[name] = (await createKey(gateway, fields)).key;
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly hasCalled: boolean;
}

async function ask(name: string, path: string, body: object | FormData): Promise<Answer> {
  const before = upstream.requests.filter(({ method }) => method === "POST").length;
  const isForm = body instanceof FormData;
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${keys[name]}`,
      ...(isForm ? {} : { "content-type": "application/json" }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const after = upstream.requests.filter(({ method }) => method === "POST").length;
  return { status: response.status, text, hasCalled: after > before };
}

function form(fields: Readonly<Record<string, string>>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  return made;
}

/** Paths, bodies and the place of the object. */
const NAMED: readonly (readonly [string, object | FormData, string])[] = [
  ["/mistral/v1/ocr", { model: "m", document: { type: "file", file_id: "f" } }, "document.file_id"],
  ["/openai/v1/images/edits", { model: "m", images: [{ file_id: "f" }] }, "images[0].file_id"],
  ["/openai/v1/audio/speech", { model: "m", input: "x", voice: { id: "v" } }, "voice.id"],
  [PREDICT, { instances: [{ image: { gcsUri: "gs://b/o" } }] }, "instances[0].image.gcsUri"],
  [PREDICT, { instances: [{}], parameters: { storageUri: "gs://b" } }, "parameters.storageUri"],
  [
    "/cohere/v1/chat",
    { model: "m", message: "x", connectors: [{ id: "crm" }] },
    "connectors[0].id",
  ],
  [
    "/openai/v1/responses",
    { model: "m", input: [{ type: "item_reference", id: "i" }] },
    "input[0].id",
  ],
  ["/mistral/v1/audio/transcriptions", form({ model: "m", file_id: "f" }), "file_id"],
  ["/openai/v1/images/edits", form({ model: "m", "images[0][file_id]": "f" }), "images.0.file_id"],
];

describe("an object of the account", () => {
  it.each(NAMED)("is refused at %s", async (path, body, place) => {
    expect(await ask("owner", path, body)).toMatchObject({ hasCalled: true });
    for (const name of ["other", "limited"]) {
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      const answer = await ask(name, path, body);
      expect(answer).toMatchObject({ status: 403, hasCalled: false });
      expect(JSON.parse(answer.text)).toMatchObject({ error: { param: place } });
    }
  });

  it.each<readonly [string, object | FormData]>([
    ["/cohere/v2/rerank", { model: "m", query: "x", documents: [{ file_id: "f" }] }],
    ["/cohere/v1/chat", { model: "m", message: "x", connectors: [{ id: "web-search" }] }],
    ["/mistral/v1/audio/transcriptions", form({ model: "m", language: "en" })],
  ])("is none in content of the client at %s", async (path, body) => {
    for (const name of ["owner", "other", "limited"])
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      expect(await ask(name, path, body)).toMatchObject({ status: 200, hasCalled: true });
  });

  it("is named at a path that the operator has opened", async () => {
    const body = { file_ids: ["f"] };
    expect(await ask("other", "/opened/v1/libraries", body)).toMatchObject({ hasCalled: true });
  });
});
