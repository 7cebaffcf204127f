/**
 * The model routes through the front door: each switch for no key, a key of another tenant, a key
 * of its own and the master key.
 */

import { NotFoundError } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, createKey, openaiClient } from "../support/client.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";

const BASE_URL = "http://127.0.0.1:9/v1";
const CREATED = 1_677_610_602;
const MODELS = [
  "{ id: fast, targets: [{ provider: openai, model: gpt-4o-mini, price: { input: 0.1, output: 0.4 } }, { provider: echo, model: e }], access_groups: [all, shared], fallbacks: { general: [echo, hidden], context_window: [large] }, info: { max_output_tokens: 16384, supports_vision: true } }",
  "{ id: large, targets: [{ provider: openai, model: gpt-4o }], access_groups: [all] }",
  "{ id: hidden, targets: [{ provider: openai, model: o3 }] }",
  "{ id: dark, targets: [{ provider: unlit, model: x }], access_groups: [all] }",
  "{ id: standing, targets: [{ provider: unlit, model: x }], fallbacks: { general: [hidden, echo] } }",
  '{ id: "openai/*", targets: [{ provider: openai, model: "*" }], access_groups: [wild] }',
  '{ id: "vectors/*", mode: embedding, targets: [{ provider: openai, model: "*" }] }',
  "{ id: echo, targets: [{ provider: echo, model: echo }], access_groups: [shared] }",
];

let gateway: GatewayProcess;
/**
 * `own` may use fast, large and echo, within the team red; `other` only echo, without a team;
 * `wild` a wildcard.
 */
const keys = { own: "", other: "", wild: "" };

interface Item {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly owned_by: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

beforeAll(async () => {
  gateway = await startGateway({
    baseUrl: BASE_URL,
    models: MODELS,
    providers: ['unlit: { use: openai, api_key: "${env:NOT_SET_ANYWHERE}" }'],
  });
  const team = await admin(gateway, "/team/new", {
    team_id: "red",
    models: ["fast", "echo", "hidden"],
  });
  if (!team.ok) throw new Error(`POST /team/new answered ${team.status}: ${await team.text()}`);
  keys.own = (await createKey(gateway, { models: ["fast", "large", "echo"], team_id: "red" })).key;
  keys.other = (await createKey(gateway, { models: ["echo"] })).key;
  keys.wild = (await createKey(gateway, { models: ["openai/*", "openai/my-own"] })).key;
});
afterAll(() => gateway?.dispose());

function get(path: string, key: string | undefined = gateway.masterKey): Promise<Response> {
  return fetch(
    `${gateway.publicUrl}${path}`,
    key === "" ? {} : { headers: { authorization: `Bearer ${key}` } },
  );
}

async function items(query: string, key?: string, path = "/v1/models"): Promise<Item[]> {
  const response = await get(`${path}?${query}`, key);
  expect(response.status).toBe(200);
  const body = (await response.json()) as { object: string; data: Item[] };
  expect(body.object).toBe("list");
  return body.data;
}

const ids = async (query: string, key?: string): Promise<string[]> =>
  (await items(query, key)).map(({ id }) => id);
/**
 * The ids that are written in the file; what the wildcards are known to match is looked at on its
 * own.
 */
const written = async (query: string, key?: string): Promise<string[]> =>
  (await ids(query, key)).filter((id) => !/^(?:openai|vectors)\/[^*]/.test(id));

const SWITCHES: readonly [
  query: string,
  own: readonly string[],
  other: readonly string[],
  master: readonly string[],
][] = [
  ["", ["fast", "echo"], ["echo"], ["fast", "large", "hidden", "standing", "echo"]],
  [
    "return_wildcard_routes=true",
    ["fast", "echo"],
    ["echo"],
    ["fast", "large", "hidden", "standing", "echo", "openai/*", "vectors/*"],
  ],
  [
    "return_wildcard_routes=false",
    ["fast", "echo"],
    ["echo"],
    ["fast", "large", "hidden", "standing", "echo"],
  ],
  [
    "include_model_access_groups=true",
    ["fast", "echo", "shared"],
    ["echo"],
    ["fast", "large", "hidden", "standing", "echo", "all", "shared", "wild"],
  ],
  ["only_model_access_groups=true", ["shared"], [], ["all", "shared", "wild"]],
  [
    "include_metadata=true",
    ["fast", "echo"],
    ["echo"],
    ["fast", "large", "hidden", "standing", "echo"],
  ],
  [
    "include_metadata=1&fallback_type=content_policy",
    ["fast", "echo"],
    ["echo"],
    ["fast", "large", "hidden", "standing", "echo"],
  ],
  [
    "scope=expand&anything=else",
    ["fast", "echo"],
    ["echo"],
    ["fast", "large", "hidden", "standing", "echo"],
  ],
];

describe.each(SWITCHES)("GET /v1/models?%s", (query, own, other, master) => {
  it.each(["/v1/models", "/models"])("answers at %s as the key may see", async (path) => {
    expect((await get(`${path}?${query}`, "")).status).toBe(401);
    expect((await get(`${path}?${query}`, "sk-unknown")).status).toBe(401);
    expect(await written(query, keys.own)).toEqual(own);
    expect(await written(query, keys.other)).toEqual(other);
    expect(await written(query)).toEqual(master);
  });
});

describe("GET /v1/models", () => {
  it("has items of four members, each id once", async () => {
    const data = await items("");
    for (const item of data)
      expect(item).toEqual({
        id: item.id,
        object: "model",
        created: CREATED,
        owned_by: item.owned_by,
      });
    expect(new Set(data.map(({ id }) => id)).size).toBe(data.length);
    expect(data[0]).toEqual({ id: "fast", object: "model", created: CREATED, owned_by: "openai" });
    expect(await items("", undefined, "/models")).toEqual(data);
  });

  it("shows wildcards as the models that they are known to match, of their own kind", async () => {
    const all = await ids("");
    expect(all).toEqual(
      expect.arrayContaining(["openai/gpt-4o", "openai/o3", "vectors/text-embedding-3-small"]),
    );
    expect(
      all.filter(
        (id) => /embedding|whisper|dall-e|^openai\/ft:/.test(id) && id.startsWith("openai/"),
      ),
    ).toEqual([]);
    const wild = await ids("return_wildcard_routes=1", keys.wild);
    expect(wild).toEqual(expect.arrayContaining(["openai/gpt-4o", "openai/my-own", "openai/*"]));
    expect(wild.filter((id) => !id.startsWith("openai/"))).toEqual([]);
  });

  it("gives metadata without what the key may not use", async () => {
    const [master] = await items("include_metadata=true");
    expect(master?.metadata).toEqual({
      fallbacks: ["echo", "hidden"],
      mode: "chat",
      access_groups: ["all", "shared"],
      pricing: { input_cost_per_token: 1e-7, output_cost_per_token: 4e-7 },
      context_window: 128_000,
    });
    const [own] = await items("include_metadata=true", keys.own);
    expect(own?.metadata).toMatchObject({ fallbacks: ["echo"], access_groups: ["shared"] });
    const [window] = await items("include_metadata=true&fallback_type=context_window");
    expect(window?.metadata).toMatchObject({ fallbacks: ["large"] });
  });

  it("takes a team from its members and from the master key", async () => {
    expect(await written("team_id=red", keys.own)).toEqual(["fast", "echo"]);
    expect(await written("team_id=red")).toEqual(["fast", "hidden", "echo"]);
    expect((await get("/v1/models?team_id=red", "")).status).toBe(401);
    expect((await get("/v1/models?team_id=none")).status).toBe(404);
    for (const [team, key] of [
      ["red", keys.other],
      ["none", keys.other],
      ["blue", keys.own],
    ] as const) {
      const refused = await get(`/v1/models?team_id=${team}`, key);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({
        error: { type: "permission_error", code: 403, param: "team_id" },
      });
    }
  });

  it.each([
    "return_wildcard_routes",
    "include_model_access_groups",
    "only_model_access_groups",
    "include_metadata",
    "fallback_type",
  ])("refuses a %s that says nothing", async (name) => {
    const refused = await get(`/v1/models?${name}=perhaps`, keys.own);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { type: "invalid_request_error", code: 400, param: name },
    });
  });
});

describe("GET /v1/models/{model_id}", () => {
  it.each(["openai/gpt-4o", "openai%2Fgpt-4o", "openai%2fgpt-4o"])("finds %s", async (id) => {
    for (const path of ["/v1/models", "/models"]) {
      const response = await get(`${path}/${id}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        id: "openai/gpt-4o",
        object: "model",
        created: CREATED,
        owned_by: "openai",
      });
    }
  });

  it("is an item with metadata, for the SDK as well", async () => {
    const model = await openaiClient(gateway, { apiKey: keys.own }).models.retrieve("fast");
    expect(model).toMatchObject({
      id: "fast",
      created: CREATED,
      metadata: { fallbacks: ["echo"], mode: "chat" },
    });
    const listed: string[] = [];
    for await (const { id } of openaiClient(gateway, { apiKey: keys.own }).models.list())
      listed.push(id);
    expect(listed).toEqual(["fast", "echo"]);
  });

  it("answers like chat for what is unknown, forbidden or unavailable", async () => {
    const client = openaiClient(gateway, { apiKey: keys.own });
    const bodies = await Promise.all(
      ["none", "large", "hidden", "dark", "openai/gpt-4o"].map(async (id) => {
        const response = await get(`/v1/models/${id}`, keys.own);
        expect(response.status).toBe(404);
        return (await response.text()).replace(id, "?");
      }),
    );
    const chat = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.own}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "none", messages: [{ role: "user", content: "hi" }] }),
    });
    bodies.push((await chat.text()).replace("none", "?"));
    expect(new Set(bodies).size).toBe(1);
    await expect(client.models.retrieve("large")).rejects.toBeInstanceOf(NotFoundError);
    expect((await get("/v1/models/fast", "")).status).toBe(401);
  });
});

describe.each(["/v1/model/info", "/model/info"])("GET %s", (path) => {
  const details = async (key?: string, query = "") =>
    (
      (await (await get(`${path}?${query}`, key)).json()) as {
        data: { model_name: string; model_info: object }[];
      }
    ).data;

  it("tells targets, prices, limits and capabilities, and neither a credential nor an address", async () => {
    const [first] = await details();
    expect(first).toEqual({
      model_name: "fast",
      litellm_params: { model: "openai/gpt-4o-mini" },
      targets: [
        { provider: "openai", model: "gpt-4o-mini" },
        { provider: "echo", model: "e" },
      ],
      model_info: {
        id: "fast",
        mode: "chat",
        max_input_tokens: 128_000,
        max_output_tokens: 16_384,
        input_cost_per_token: 1e-7,
        output_cost_per_token: 4e-7,
        supports_function_calling: true,
        supports_native_streaming: true,
        supports_vision: true,
      },
    });
    const text = await (await get(path)).text();
    for (const secret of [UPSTREAM_KEY, BASE_URL, "127.0.0.1"]) expect(text).not.toContain(secret);
  });

  it("tells each key of its own models, and of one when asked", async () => {
    expect((await get(path, "")).status).toBe(401);
    expect((await details(keys.own)).map((item) => item.model_name)).toEqual(["fast", "echo"]);
    expect((await details(keys.other)).map((item) => item.model_name)).toEqual(["echo"]);
    expect((await details()).map((item) => item.model_name)).toEqual(await ids(""));
    expect(await details(keys.own, "litellm_model_id=fast")).toMatchObject([
      { model_name: "fast" },
    ]);
    expect((await get(`${path}?litellm_model_id=large`, keys.own)).status).toBe(400);
    expect((await get(`${path}?team_id=red`, keys.other)).status).toBe(403);
  });
});

it("leaves no spend rows", async () => {
  const response = await get("/spend/logs");
  expect(
    ((await response.json()) as { call_type: string }[]).filter(
      ({ call_type }) => call_type === "models",
    ),
  ).toEqual([]);
});

describe("a model whose provider has no credential (contract 1.6)", () => {
  const chat = (model: string, key: string) =>
    fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });

  it("is an unknown model on every route", async () => {
    const answers = await Promise.all([
      get("/v1/models/dark"),
      chat("dark", gateway.masterKey),
      chat("no-such-model", gateway.masterKey),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    const [, dark, unknown] = await Promise.all(answers.map((answer) => answer.text()));
    expect(dark?.replace("dark", "no-such-model")).toBe(unknown);
    expect(await ids("")).not.toContain("dark");
  });

  it("is listed and served where a configured fallback can take its requests", async () => {
    expect(await ids("")).toContain("standing");
    expect((await get("/v1/models/standing")).status).toBe(200);
    const answer = await chat("standing", gateway.masterKey);
    expect([answer.status, answer.headers.get("x-sluice-model")]).toEqual([200, "echo"]);
  });

  it("is unknown to a key that may use it and none of its fallbacks", async () => {
    const { key } = await createKey(gateway, { models: ["standing"] });
    expect([
      (await get("/v1/models/standing", key)).status,
      (await chat("standing", key)).status,
    ]).toEqual([404, 404]);
    expect(await ids("", key)).toEqual([]);
  });
});
