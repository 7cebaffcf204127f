import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AzureOpenAI, type OpenAI } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiClient, rowsOf } from "../support/client.ts";
import { type FailureFixture, fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { functionsOf } from "../support/sdk-chat.ts";

const KEY = "azure-credential-of-the-tests-0123456789";
const SECRET = "entra-secret-of-the-tests-0123456789";
const FOLDER = mkdtempSync(join(tmpdir(), "sluice-azure-"));
const TOKEN_FILE = join(FOLDER, "federated-token");
const fixtures = fixturesOf("provider-azure");

let upstream: NativeUpstream;
let entra: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  [upstream, entra] = await Promise.all([createNativeUpstream(), createNativeUpstream()]);
  gateway = await startGateway(
    {
      providers: [
        `azure: { use: azure, endpoint: ${upstream.url}, api_key: "\${env:AZURE_KEY}" }`,
        `entra: { use: azure, endpoint: ${upstream.url}, api: deployments, tenant_id: tenant, client_id: app, client_secret: "\${env:AZURE_SECRET}", authority: ${entra.url} }`,
        `machine: { use: azure, endpoint: ${upstream.url}, credentials: managed_identity, client_id: mine, metadata_url: ${entra.url} }`,
        `fileless: { use: azure, endpoint: ${upstream.url}, tenant_id: tenant, client_id: app, federated_token_file: ${FOLDER}/none, authority: ${entra.url} }`,
        `cluster: { use: azure, endpoint: ${upstream.url}, tenant_id: tenant, client_id: app, federated_token_file: ${TOKEN_FILE}, authority: ${entra.url} }`,
      ],
      models: [
        "{ id: gpt-4o, targets: [{ provider: azure, model: gpt-4o }] }",
        '{ id: azure/*, targets: [{ provider: azure, model: "*" }] }',
        '{ id: machine/*, targets: [{ provider: machine, model: "*" }] }',
        '{ id: fileless/*, targets: [{ provider: fileless, model: "*" }] }',
        '{ id: cluster/*, targets: [{ provider: cluster, model: "*" }] }',
        '{ id: entra/*, targets: [{ provider: entra, model: "*" }] }',
      ],
    },
    { AZURE_KEY: KEY, AZURE_SECRET: SECRET },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await Promise.all([upstream.close(), entra.close()]);
  rmSync(FOLDER, { recursive: true });
});

const ASK: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Hello." }];

describe("Azure OpenAI behind the OpenAI SDK", () => {
  it("answers whole, with its filter report, its usage and its price", async () => {
    upstream.reply(200, "application/json", fixtures.text("chat/reply"));
    const { data: reply, response } = await client.chat.completions
      .create({ model: "gpt-4o", messages: ASK })
      .withResponse();
    expect(reply).toMatchObject({
      model: "gpt-4o",
      choices: [{ message: { content: "Hello!" } }],
      prompt_filter_results: [{}],
    });
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/openai/v1/chat/completions",
      headers: { "api-key": KEY },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      prompt_tokens: 8,
      completion_tokens: 5,
      custom_llm_provider: "azure",
      spend: 0.00007,
    });
  });

  it("streams through reports of an asynchronous filter", async () => {
    upstream.reply(
      200,
      "text/event-stream; charset=utf-8",
      fixtures.text("streams/stream-async-filter"),
    );
    const stream = client.chat.completions.stream({
      model: "gpt-4o",
      messages: ASK,
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices).toMatchObject([{ message: { content: "One two" }, finish_reason: "stop" }]);
    expect(usage).toMatchObject({ total_tokens: 29 });
  });

  it("calls three tools at once", async () => {
    upstream.reply(200, "text/event-stream", fixtures.text("streams/stream-tools-parallel"));
    const tools: OpenAI.ChatCompletionTool[] = [
      { type: "function", function: { name: "read_gauge", parameters: { type: "object" } } },
    ];
    const { choices } = await client.chat.completions
      .stream({ model: "gpt-4o", messages: ASK, tools })
      .finalChatCompletion();
    expect(functionsOf(choices[0]?.message).map((called) => called?.arguments)).toEqual([
      '{"station":"Köln"}',
      '{"station":"Basel"}',
      '{"station":"Bonn"}',
    ]);
  });

  it("fetches one Entra token for all calls of an application, and calls deployments with it", async () => {
    entra.answer((response) =>
      response
        .writeHead(200)
        .end(JSON.stringify({ access_token: "entra-token", expires_in: 3599 })),
    );
    upstream.reply(200, "application/json", fixtures.text("chat/reply"));
    await Promise.all(
      [1, 2, 3].map(() =>
        client.chat.completions.create({ model: "entra/my-deployment", messages: ASK }),
      ),
    );
    expect(
      entra.requests.map(({ url, body }) => [
        url,
        new URLSearchParams(body.toString()).get("client_secret"),
      ]),
    ).toEqual([["/tenant/oauth2/v2.0/token", SECRET]]);
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21",
      headers: { authorization: "Bearer entra-token" },
    });
  });

  it("gets the machine's own identity from the metadata service", async () => {
    entra.reply(
      200,
      "application/json",
      JSON.stringify({ access_token: "machine-token", expires_in: "3599", token_type: "Bearer" }),
    );
    upstream.reply(200, "application/json", fixtures.text("chat/reply"));
    await client.chat.completions.create({ model: "machine/gpt-4o", messages: ASK });
    expect(entra.requests.at(-1)).toMatchObject({
      method: "GET",
      url: "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=mine",
      headers: { metadata: "true" },
    });
    expect(upstream.requests.at(-1)?.headers.authorization).toBe("Bearer machine-token");
  });

  it("proves an application by the token in the cluster's file, read anew each time", async () => {
    upstream.reply(200, "application/json", fixtures.text("chat/reply"));
    writeFileSync(TOKEN_FILE, "projected-token\n");
    entra.reply(
      200,
      "application/json",
      JSON.stringify({ access_token: "cluster-token", expires_in: 3599 }),
    );
    await client.chat.completions.create({ model: "cluster/gpt-4o", messages: ASK });
    const form = new URLSearchParams(entra.requests.at(-1)?.body.toString());
    expect(Object.fromEntries(form)).toEqual({
      grant_type: "client_credentials",
      client_id: "app",
      scope: "https://cognitiveservices.azure.com/.default",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: "projected-token",
    });
    expect(upstream.requests.at(-1)?.headers.authorization).toBe("Bearer cluster-token");
  });

  it("sends no request when the cluster has written no token", async () => {
    const before = entra.requests.length;
    const asked = client.chat.completions.create({ model: "fileless/gpt-4o", messages: ASK });
    await expect(asked).rejects.toMatchObject({ status: 502, type: "upstream_error" });
    await expect(asked).rejects.not.toThrow(FOLDER);
    expect(entra.requests.length).toBe(before);
  });

  it("forwards native requests of Azure's own SDK, and bills them", async () => {
    upstream.reply(200, "application/json", fixtures.text("chat/reply"));
    const native = new AzureOpenAI({
      baseURL: `${gateway.publicUrl}/azure/openai`,
      apiKey: gateway.masterKey,
      apiVersion: "2024-10-21",
      maxRetries: 0,
    });
    const { response } = await native.chat.completions
      .create({ model: "gpt-4o", messages: ASK })
      .withResponse();
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
      headers: { "api-key": KEY },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({ call_type: "passthrough", total_tokens: 13, spend: 0.00007 });
  });

  // Each a deployment of its own: one that failed rests. A refused credential rests them all, so it
  // comes last.
  it.each([
    ["error-400-content-filter", 400, "content_policy_violation"],
    ["error-404-deployment", 404, "invalid_request_error"],
    ["error-429-milliseconds", 429, "rate_limit_error"],
    ["error-401", 502, "upstream_error"],
  ])("turns %s into %i %s", async (name, outward, type) => {
    const { status, headers, body } = fixtures.json<FailureFixture>(`errors/${name}`);
    upstream.reply(status, "application/json", JSON.stringify(body), headers);
    await expect(
      client.chat.completions.create({ model: `azure/${name}`, messages: ASK }),
    ).rejects.toMatchObject({
      status: outward,
      type,
    });
  });
});
