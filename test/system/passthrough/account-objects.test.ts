/**
 * Files, batches and responses in a provider's account: a key without the right to its paths gets
 * the same refusal for an object that exists as for one that does not, and nothing is asked.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const CREDENTIAL = 'api_key: "${env:OPENAI_API_KEY}"';
const OWNED = "owned-0123456789";
const MISSING = "absent-012345678";

const MODELS = [
  ["gpt-4o-mini", "openai"],
  ["claude-sonnet-4-5", "anthropic"],
  ["gemini-2.5-flash", "gemini"],
  ["gpt-opened", "opened"],
  ["az", "azure"],
] as const;

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const keys: Record<string, string> = {};

beforeAll(async () => {
  upstream = await createNativeUpstream();
  // The account has the objects of one id.
  upstream.answer((response, { url }) => {
    response.writeHead(url.includes(OWNED) ? 200 : 404, { "content-type": "application/json" });
    response.end(url.includes(OWNED) ? '{"secret":"zqsecretzq"}' : '{"error":{"message":"No."}}');
  });
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    provider: "responses: true",
    models: [
      ...MODELS.map(
        ([id, provider]) => `{ id: ${id}, targets: [{ provider: ${provider}, model: ${id} }] }`,
      ),
      "{ id: az-data, targets: [{ provider: azure, model: az-data, forward: [data_sources] }] }",
    ],
    providers: [
      `opened: { use: openai, ${CREDENTIAL}, base_url: ${upstream.url}/v1, responses: true, account_objects: ["owned-*"] }`,
      `anthropic: { use: anthropic, ${CREDENTIAL}, base_url: ${upstream.url} }`,
      `azure: { use: azure, ${CREDENTIAL}, endpoint: ${upstream.url} }`,
      `gemini: { use: gemini, ${CREDENTIAL}, base_url: ${upstream.url} }`,
      `bedrock: { use: bedrock, ${CREDENTIAL}, region: eu-west-1, base_url: ${upstream.url} }`,
    ],
  });
  const made = {
    owner: { passthrough: true },
    other: {},
    limited: {
      models: [...MODELS.map(([id]) => id), "openai/*", "anthropic/*", "bedrock/*"],
      passthrough: true,
    },
  };
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
  /** The body without what the two ids and two requests differ in. */
  readonly text: string;
  /** Requests that reached the upstream. */
  readonly calls: number;
}

async function ask(
  name: string,
  line: string,
  id: string,
  said: object = { model: "gpt-4o-mini" },
): Promise<Answer> {
  const [method = "", path = ""] = line.split(" ");
  const before = upstream.requests.length;
  const response = await fetch(gateway.publicUrl + path.replace("ID", id), {
    method,
    headers: { authorization: `Bearer ${keys[name]}`, "content-type": "application/json" },
    ...(method === "POST" ? { body: JSON.stringify(said).replaceAll("ID", id) } : {}),
  });
  const text = (await response.text())
    .replaceAll(id, "ID")
    .replaceAll(/"(request_?id)":"[^"]*"/gi, '"$1":"R"');
  return { status: response.status, text, calls: upstream.requests.length - before };
}

const NATIVE = [
  "GET /openai/v1/files/ID",
  "DELETE /openai/v1/files/ID",
  "GET /openai/v1/files/ID/content",
  "GET /openai/v1/batches/ID",
  "POST /openai/v1/batches/ID/cancel",
  "GET /openai/v1/responses/ID",
  "DELETE /openai/v1/responses/ID",
  "POST /openai/v1/responses/ID/cancel",
  "GET /openai/v1/responses/ID/input_items",
  "GET /openai/v1/conversations/ID/items",
  "GET /openai/v1/chat/completions/ID",
  "GET /openai/v1/containers/ID/files",
  "POST /openai/v1/vector_stores/ID/search",
  "GET /azure/openai/files/ID?api-version=2024-10-21",
  "GET /azure/openai/v1/responses/ID",
  "GET /anthropic/v1/files/ID/content",
  "GET /anthropic/v1/messages/batches/ID",
  "GET /anthropic/v1/messages/batches/ID/results",
  "GET /gemini/v1beta/files/ID",
  "DELETE /gemini/v1beta/cachedContents/ID",
  "GET /gemini/v1beta/batches/ID",
];

const part = (content: object) => ({ messages: [{ role: "user", content: [content] }] });
/** Requests that name an object in their bodies, at routes of every face and at native ones. */
const BODIES: readonly (readonly [string, string, object])[] = [
  ["POST /v1/chat/completions", "gpt-4o-mini", part({ type: "file", file: { file_id: "ID" } })],
  [
    "POST /v1/responses",
    "gpt-4o-mini",
    { input: "Hi.", tools: [{ type: "file_search", vector_store_ids: ["ID"] }] },
  ],
  [
    "POST /v1/responses",
    "gpt-4o-mini",
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "ID" }] }] },
  ],
  ["POST /v1/responses", "gpt-4o-mini", { input: "Hi.", prompt: { id: "ID" } }],
  [
    "POST /v1/responses",
    "gpt-4o-mini",
    { input: "Hi.", tools: [{ type: "code_interpreter", container: "ID" }] },
  ],
  [
    "POST /v1/messages",
    "claude-sonnet-4-5",
    { max_tokens: 9, ...part({ type: "document", source: { type: "file", file_id: "ID" } }) },
  ],
  [
    "POST /v1/messages",
    "claude-sonnet-4-5",
    { max_tokens: 9, container: "ID", ...part({ type: "text", text: "x" }) },
  ],
  [
    "POST /v1beta/models/gemini-2.5-flash:generateContent",
    "",
    { contents: [{ parts: [{ text: "Hi." }] }], cachedContent: "cachedContents/ID" },
  ],
  [
    "POST /v1beta/models/gemini-2.5-flash:generateContent",
    "",
    {
      contents: [{ parts: [{ text: "Hi." }] }],
      tools: [{ fileSearch: { fileSearchStoreNames: ["fileSearchStores/ID"] } }],
    },
  ],
  [
    "POST /gemini/v1beta/models/gemini-2.5-flash:generateContent",
    "",
    { tools: [{ file_search: { file_search_store_names: ["fileSearchStores/ID"] } }] },
  ],
  ["POST /openai/v1/responses", "gpt-4o-mini", { input: "Hi.", previous_response_id: "ID" }],
  [
    "POST /anthropic/v1/messages",
    "claude-sonnet-4-5",
    { max_tokens: 9, ...part({ type: "image", source: { type: "file", file_id: "ID" } }) },
  ],
  [
    "POST /anthropic/v1/messages/count_tokens",
    "claude-sonnet-4-5",
    part({ type: "document", source: { type: "file", file_id: "ID" } }),
  ],
  [
    "POST /gemini/v1beta/models/gemini-2.5-flash:countTokens",
    "",
    { generateContentRequest: { cachedContent: "cachedContents/ID" } },
  ],
  [
    "POST /gemini/v1beta/models/gemini-2.5-flash:countTokens",
    "",
    { contents: [{ parts: [{ fileData: { fileUri: "files/ID" } }] }] },
  ],
  [
    "POST /gemini/v1beta/models/gemini-2.5-flash:embedContent",
    "",
    { content: { parts: [{ fileData: { fileUri: "files/ID" } }] } },
  ],
  [
    "POST /gemini/v1beta/models/gemini-2.5-flash:batchEmbedContents",
    "",
    { requests: [{ content: { parts: [{ file_data: { file_uri: "files/ID" } }] } }] },
  ],
  [
    "POST /bedrock/model/claude/count-tokens",
    "",
    {
      input: {
        converse: {
          messages: [
            {
              role: "user",
              content: [{ image: { source: { s3Location: { uri: "s3://b/ID" } } } }],
            },
          ],
        },
      },
    },
  ],
];

describe("an object of the account", () => {
  it.each(BODIES)(
    "is refused in a body as one that does not exist: %s",
    async (line, model, more) => {
      const body = model === "" ? more : { model, ...more };
      expect(await ask("owner", line, OWNED, body)).toMatchObject({ calls: 1 });
      for (const name of ["other", "limited"]) {
        // oxlint-disable-next-line no-await-in-loop -- calls are counted.
        const foreign = await ask(name, line, OWNED, body);
        expect(foreign).toMatchObject({ status: 403, calls: 0 });
        expect(foreign.text).toContain("account_objects");
        // oxlint-disable-next-line no-await-in-loop -- as above.
        expect(await ask(name, line, MISSING, body)).toEqual(foreign);
      }
    },
  );

  it.each([
    ["POST /v1/chat/completions", "az"],
    ["POST /azure/openai/deployments/az/chat/completions", "az"],
    ["POST /azure/openai/v1/chat/completions", "az-data"],
  ])("a source of data of Azure needs the target's word: %s of %s", async (line, model) => {
    // It names an index, and a deployment that the model's list does not have.
    const dependency = { type: "deployment_name", deployment_name: "another" };
    const parameters = { index_name: "ID", embedding_dependency: dependency };
    const data_sources = [{ type: "azure_search", parameters }];
    const body = { model, messages: [{ role: "user", content: "Hi." }], data_sources };
    for (const name of ["owner", "other"])
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      expect(await ask(name, line, OWNED, body)).toMatchObject(
        model === "az" ? { status: 400, calls: 0 } : { calls: 1 },
      );
  });

  it("is named by every key where the operator has opened it", async () => {
    const tools = [{ type: "file_search", vector_store_ids: ["ID"] }];
    const body = { model: "gpt-opened", input: "Hi.", tools };
    expect(await ask("other", "POST /v1/responses", OWNED, body)).toMatchObject({ calls: 1 });
    const refusal = { status: 403, calls: 0 };
    expect(await ask("other", "POST /v1/responses", MISSING, body)).toMatchObject(refusal);
  });

  it.each(NATIVE)("is refused as one that does not exist: %s", async (line) => {
    expect(await ask("owner", line, OWNED)).toMatchObject({ status: 200, calls: 1 });
    expect(await ask("owner", line, MISSING)).toMatchObject({ status: 404, calls: 1 });
    for (const name of ["other", "limited"]) {
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      const foreign = await ask(name, line, OWNED);
      expect(foreign).toMatchObject({ status: 403, calls: 0 });
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(await ask(name, line, MISSING)).toEqual(foreign);
    }
  });

  it.each([
    "GET /v1/files/ID",
    "DELETE /v1/files/ID",
    "GET /v1/files/ID/content",
    "GET /v1/batches/ID",
    "POST /v1/batches/ID/cancel",
    "GET /v1/responses/resp_ID",
    "DELETE /v1/responses/resp_ID",
    "POST /v1/responses/resp_ID/cancel",
    "GET /v1/responses/resp_ID/input_items",
    "GET /v1/messages/batches/ID",
  ])("is 404 at the gateway's own address: %s", async (line) => {
    for (const name of ["owner", "other", "limited"]) {
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      const foreign = await ask(name, line, OWNED);
      expect(foreign).toMatchObject({ status: 404, calls: 0 });
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(await ask(name, line, MISSING)).toEqual(foreign);
    }
  });
});
