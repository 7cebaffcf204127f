/**
 * One gateway before an upstream that answers in every dialect, whatever it is asked; what was sent
 * is kept.
 */

import type { JsonObject } from "@sluice/contract";
import { chat } from "./client.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "./native-upstream.ts";
import type { Workspace, WorkspaceOptions } from "./workspace.ts";

const KEY = 'api_key: "${env:SOME_KEY}"';
const PRESETS = [
  "groq",
  "deepseek",
  "xai",
  "together",
  "fireworks",
  "openrouter",
  "perplexity",
  "ollama",
  "vllm",
  "lmstudio",
  "custom",
];

/** Providers by their names; `@` is the upstream's address. */
const PROVIDERS: Readonly<Record<string, readonly [provider: string, model: string]>> = {
  openai: [`use: openai, ${KEY}, base_url: @/v1`, "gpt-4o"],
  azure: [`use: azure, ${KEY}, endpoint: @`, "gpt-4o"],
  anthropic: [`use: anthropic, ${KEY}, base_url: @`, "claude-sonnet-4-5"],
  gemini: [`use: gemini, ${KEY}, base_url: @`, "gemini-2.5-flash"],
  vertex: ["use: vertex, project: p, base_url: @, metadata_url: @", "gemini-2.5-flash"],
  "vertex-claude": [
    "use: vertex, project: p, base_url: @, metadata_url: @",
    "claude-sonnet-4-5@20250929",
  ],
  bedrock: [
    `use: bedrock, ${KEY}, region: us-east-1, base_url: @`,
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  ],
  nova: [`use: bedrock, ${KEY}, region: us-east-1, base_url: @`, "us.amazon.nova-pro-v1:0"],
  cohere: [`use: cohere, ${KEY}, base_url: @`, "command-a-03-2025"],
  mistral: [`use: mistral, ${KEY}, base_url: @/v1`, "mistral-large-latest"],
  ...Object.fromEntries(
    PRESETS.map((name) => [
      name,
      [`use: compatible, preset: ${name}, ${KEY}, base_url: @/v1`, "model-1"] as const,
    ]),
  ),
};

/** The models of the gateway: one of each dialect, by the provider's name. */
export const DIALECTS: readonly string[] = Object.keys(PROVIDERS);

/** One more model, whose provider has the Responses API. */
export const RESPONSES_MODEL = "openai-responses";
const RESPONSES_PROVIDER = `use: openai, ${KEY}, base_url: @/v1, responses: true`;

/** What the upstream answers, where a test says nothing. */
const REPLIES: readonly (readonly [RegExp, JsonObject])[] = [
  [/\/computeMetadata\//, { access_token: "t", expires_in: 3_599, token_type: "Bearer" }],
  [
    /\/converse$/,
    {
      output: { message: { role: "assistant", content: [{ text: "Hi." }] } },
      stopReason: "end_turn",
    },
  ],
  [
    /\/v1\/messages$|:rawPredict$/,
    { type: "message", content: [{ type: "text", text: "Hi." }], stop_reason: "end_turn" },
  ],
  [
    /:generateContent$/,
    {
      candidates: [{ content: { role: "model", parts: [{ text: "Hi." }] }, finishReason: "STOP" }],
    },
  ],
  [
    /\/v2\/chat$/,
    {
      message: { role: "assistant", content: [{ type: "text", text: "Hi." }] },
      finish_reason: "COMPLETE",
    },
  ],
  [
    /\/chat\/completions$/,
    {
      choices: [
        { index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" },
      ],
    },
  ],
];

/** What came of a request. */
export interface Asked {
  readonly status: number;
  readonly text: string;
  readonly json: JsonObject;
  /** `x-sluice-dropped-params`. */
  readonly dropped: readonly string[];
  /** The JSON that reached the upstream; `undefined` where nothing did. */
  readonly sent: JsonObject | undefined;
}

/** The gateway and its upstream. */
export interface EveryDialect {
  readonly gateway: GatewayProcess;
  readonly upstream: NativeUpstream;
  /** Asks the model of a dialect. `messages` is a question unless the body has its own. */
  ask(dialect: string, body: object): Promise<Asked>;
  /** Answers the next requests with the defaults again. */
  reset(): void;
  close(): Promise<void>;
}

/** Starts both. `make`: of the options, for a workspace with more than they say. */
export async function startEveryDialect(
  options: Pick<WorkspaceOptions, "plugins" | "sections"> = {},
  make: (options: WorkspaceOptions) => Workspace | WorkspaceOptions = (made) => made,
): Promise<EveryDialect> {
  const upstream = await createNativeUpstream();
  const reset = (): void => {
    upstream.answer((response, { url }) => {
      const reply = REPLIES.find(([pattern]) => pattern.test(url))?.[1] ?? {
        error: { message: `No answer at ${url}` },
      };
      response
        .writeHead("error" in reply ? 404 : 200, { "content-type": "application/json" })
        .end(JSON.stringify(reply));
    });
  };
  reset();
  const providers = [
    ...Object.entries(PROVIDERS),
    [RESPONSES_MODEL, [RESPONSES_PROVIDER, "gpt-5-mini"]] as const,
  ];
  const gateway = await startGateway(
    make({
      ...options,
      providers: providers.map(
        ([name, [provider]]) => `p-${name}: { ${provider.replaceAll("@", upstream.url)} }`,
      ),
      models: providers.map(
        ([name, [, model]]) =>
          `{ id: ${name}, targets: [{ provider: p-${name}, model: "${model}" }] }`,
      ),
    }),
    { SOME_KEY: "credential-of-the-tests-0123456789" },
  );
  return {
    gateway,
    upstream,
    reset,
    async ask(dialect, body) {
      const before = upstream.requests.length;
      const answer = await chat(gateway, {
        model: dialect,
        messages: [{ role: "user", content: "Hello." }],
        ...body,
      });
      const text = await answer.text();
      const sent = upstream.requests
        .slice(before)
        .findLast(({ url }) => !url.startsWith("/computeMetadata/"));
      return {
        status: answer.status,
        text,
        json: text.startsWith("{") ? (JSON.parse(text) as JsonObject) : {},
        dropped: answer.headers.get("x-sluice-dropped-params")?.split(", ") ?? [],
        sent: sent === undefined ? undefined : (JSON.parse(sent.body.toString()) as JsonObject),
      };
    },
    async close() {
      await gateway.dispose();
      await upstream.close();
    },
  };
}
