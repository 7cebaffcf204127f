import { fakeIdentity } from "@sluice/testing";
import type { JsonObject, OpenObjects } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { checkAccountObjects } from "./account-objects.ts";

const KEY = fakeIdentity({ kind: "key" });

/** The place of the object that is refused; `undefined` where none is. */
function refused(body: JsonObject, accountObjects?: OpenObjects, identity = KEY) {
  try {
    const opened = accountObjects === undefined ? {} : { accountObjects };
    checkAccountObjects(body, { name: "openai", ...opened }, identity);
    return undefined;
  } catch (error) {
    const { code, param } = error as { readonly code: string; readonly param: string };
    return code === "permission_denied" ? param : code;
  }
}

const PLACES: readonly (readonly [string, JsonObject])[] = [
  ["prompt.id", { prompt: { id: "pmpt_1" } }],
  ["previous_response_id", { previous_response_id: "resp_1" }],
  ["thread.previous_message_id", { thread: { type: "continue", previous_message_id: "msg_1" } }],
  ["conversation", { conversation: "conv_1" }],
  ["conversation.id", { conversation: { id: "conv_1" } }],
  ["container", { container: "container_1" }],
  ["container.id", { container: { id: "container_1" } }],
  [
    "container.skills[1].skill_id",
    {
      container: {
        skills: [
          { type: "anthropic", skill_id: "pptx" },
          { type: "custom", skill_id: "skill_1" },
        ],
      },
    },
  ],
  ["tools[0].vector_store_ids[0]", { tools: [{ vector_store_ids: ["vs_1"] }] }],
  [
    "tools[0].file_search.file_search_store_names[0]",
    { tools: [{ file_search: { file_search_store_names: ["fileSearchStores/1"] } }] },
  ],
  [
    "tools[0].retrieval.vertexAiSearch.datastore",
    {
      tools: [
        { retrieval: { vertexAiSearch: { datastore: "projects/p/locations/l/dataStores/d" } } },
      ],
    },
  ],
  [
    "tools[0].retrieval.vertexAiSearch.dataStoreSpecs[0].dataStore",
    {
      tools: [
        {
          retrieval: {
            vertexAiSearch: {
              dataStoreSpecs: [{ dataStore: "projects/p/locations/l/dataStores/d" }],
            },
          },
        },
      ],
    },
  ],
  [
    "tools[0].retrieval.vertexAiSearch.engine",
    { tools: [{ retrieval: { vertexAiSearch: { engine: "projects/p/engines/e" } } }] },
  ],
  [
    "tools[0].retrieval.vertexRagStore.ragResources[0].ragCorpus",
    {
      tools: [
        {
          retrieval: {
            vertexRagStore: { ragResources: [{ ragCorpus: "projects/p/ragCorpora/1" }] },
          },
        },
      ],
    },
  ],
  [
    "tools[0].retrieval.vertex_rag_store.rag_corpora[0]",
    { tools: [{ retrieval: { vertex_rag_store: { rag_corpora: ["projects/p/ragCorpora/1"] } } }] },
  ],
  ["conversation_id", { conversation_id: "c1", message: "Hi." }],
  ["audio.voice.id", { audio: { format: "wav", voice: { id: "voice_1" } } }],
  ["tools[0].container", { tools: [{ container: "cntr_1" }] }],
  ["tools[0].container.file_ids[0]", { tools: [{ container: { file_ids: ["file-1"] } }] }],
  ["tools[0].environment.container_id", { tools: [{ environment: { container_id: "cntr_1" } }] }],
  ["tools[0].of_next_year.file_id", { tools: [{ of_next_year: { file_id: "file-1" } }] }],
  ["input[0].content[1].file_id", { input: [{ content: [{}, { file_id: "file-1" }] }] }],
  ["input[0].output[0].file_id", { input: [{ output: [{ file_id: "file-1" }] }] }],
  ["input[0].container_id", { input: [{ type: "code_interpreter_call", container_id: "c" }] }],
  [
    "messages[0].content[0].source.file_id",
    { messages: [{ content: [{ source: { file_id: "f" } }] }] },
  ],
  [
    "messages[0].content[0].file.file_id",
    { messages: [{ content: [{ file: { file_id: "f" } }] }] },
  ],
  [
    "input.converse.messages[0].content[0].document.source.s3Location.uri",
    {
      input: {
        converse: {
          messages: [{ content: [{ document: { source: { s3Location: { uri: "s3://b/o" } } } }] }],
        },
      },
    },
  ],
  ["messages[0].audio.id", { messages: [{ audio: { id: "audio_1" } }] }],
  ["cachedContent", { cachedContent: "cachedContents/1" }],
  [
    "input[1].id",
    {
      input: [
        { role: "user", id: "x" },
        { type: "item_reference", id: "msg_1" },
      ],
    },
  ],
  ["input[0].id", { input: [{ id: "msg_1" }] }],
  ["input[0].id", { input: [{ id: "msg_1", type: null, role: null }] }],
  ["input[0].id", { input: [{ type: "image_generation_call", id: "ig_1", result: null }] }],
  ["connectors[1].id", { connectors: [{ id: "web-search" }, { id: "crm" }] }],
  ["document.file_id", { document: { type: "file", file_id: "f" } }],
  ["instances[0].image.gcsUri", { instances: [{ image: { gcsUri: "gs://b/o" } }] }],
  ["parameters.storageUri", { instances: [], parameters: { storageUri: "gs://b/o" } }],
  ["input[0].content[0].image_url", { input: [{ content: [{ image_url: "gs://b/o" }] }] }],
  [
    "contents[0].parts[0].fileData.fileUri",
    { contents: [{ parts: [{ fileData: { fileUri: "gs://b/o" } }] }] },
  ],
  [
    "messages[0].content[0].image_url.url",
    {
      messages: [
        {
          content: [
            { image_url: { url: "https://generativelanguage.googleapis.com/v1beta/files/1" } },
          ],
        },
      ],
    },
  ],
];

describe("a request of a key", () => {
  it.each(PLACES)("that names %s is refused", (place, body) => {
    expect(refused(body)).toBe(place);
    expect(refused(body, "all")).toBeUndefined();
    expect(refused(body, ["*"])).toBeUndefined();
    expect(refused(body, undefined, fakeIdentity({ kind: "master" }))).toBeUndefined();
    expect(
      refused(body, undefined, fakeIdentity({ kind: "key", passthrough: true })),
    ).toBeUndefined();
    const limited = fakeIdentity({ kind: "key", passthrough: true, models: ["a"] });
    expect(refused(body, undefined, limited)).toBe(place);
  });

  it.each([
    " gs://b/o",
    "g\ns://b/o",
    "\tfiles/1",
    "https://generativelanguage.googleapis.com:443/v1beta/files/1",
    "https://generativelanguage.googleapis.com./v1beta/files/1",
    "https://a@generativelanguage.googleapis.com/v1beta/files/1",
    "https:/generativelanguage.googleapis.com\\v1beta/files/1",
    "https://generativelanguage.googleapis.com/x/../v1beta/files/1",
    "https://generativelanguage.%67oogleapis.com/v1beta/%66iles/1",
    "https://generativelanguage.googleapis.com/download/v1beta/files/1:download",
  ])("that names an object in another spelling is refused: %j", (fileUri) => {
    expect(refused({ contents: [{ parts: [{ fileData: { fileUri } }] }] })).toBe(
      "contents[0].parts[0].fileData.fileUri",
    );
  });

  it("may name what the operator has opened, and nothing else", () => {
    const tools = (...ids: readonly string[]): JsonObject => ({
      tools: [{ vector_store_ids: ids }],
    });
    expect(refused(tools("vs_1", "cntr_9"), ["vs_1", "cntr_*"])).toBeUndefined();
    expect(refused(tools("vs_1", "vs_2"), ["vs_1", "cntr_*"])).toBe("tools[0].vector_store_ids[1]");
    expect(refused(tools("vs_11"), ["vs_1"])).toBe("tools[0].vector_store_ids[0]");
  });

  it("has content that no upstream takes for an id", () => {
    const schema = { type: "object", properties: { file_id: { default: "x" } }, file_id: "x" };
    for (const body of [
      { prompt: "A text.", container: null },
      { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
      {
        tools: [
          { parameters: schema },
          { input_schema: schema },
          { function: { parameters: schema } },
        ],
      },
      { messages: [{ content: [{ type: "tool_use", input: { file_id: "x", container: "y" } }] }] },
      { contents: [{ parts: [{ functionCall: { args: { file_id: "x" } } }] }] },
      { contents: [{ parts: [{ functionResponse: { response: { file_id: "x" } } }] }] },
      { contents: [{ parts: [{ fileData: { fileUri: "https://example.com/v1/files/a.png" } }] }] },
      { metadata: { file_id: "x" }, messages: [{ audio: { data: "x", id: "y" } }] },
      { url: "https://storage.googleapis.com/bucket/files/1" },
      { url: `data:text/plain,${"gs:".repeat(9)}` },
      { query: "x", documents: [{ file_id: "x", url: "gs://b/o" }] },
      { input: [{ type: "image_generation_call", id: "ig_1", result: "aGk=" }] },
      { input: [{ type: "message", id: "msg_1", content: [] }] },
      { connectors: [{ id: "web-search" }] },
      { input: [{ content: [{ annotations: [{ type: "file_citation", file_id: "x" }] }] }] },
    ] as readonly JsonObject[])
      expect(refused(body)).toBeUndefined();
  });
});
