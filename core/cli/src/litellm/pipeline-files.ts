/**
 * The pipelines of an imported configuration: the shipped ones, with the options that the settings
 * say.
 */

import type { ImportedGuardrail } from "./guardrails.ts";
import type { ImportedSettings } from "./settings.ts";
import { flow } from "../yaml-text.ts";

/** A route whose clients speak another form. */
interface FacedRoute {
  readonly route: string;
  readonly face: string;
}

interface Shipped {
  readonly routes: readonly (string | FacedRoute)[];
  readonly operation: string;
  readonly steps: readonly string[];
}

const CALLING = [
  "auth",
  "cost",
  "limits",
  "idempotency",
  "guardrails",
  "cache",
  "fallback",
  "balance",
  "retry",
  "provider",
];
const deployment = (endpoint: string): string =>
  `POST /{provider}/deployments/{deployment...}/${endpoint}`;
const engine = (endpoint: string): string => `POST /v1/engines/{deployment...}/${endpoint}`;

const faced = (route: string, face: string): FacedRoute => ({ route, face });

/** The routes and steps that every installation is shipped with. */
export const SHIPPED: Readonly<Record<string, Shipped>> = {
  chat: {
    routes: [
      "POST /v1/chat/completions",
      "POST /chat/completions",
      deployment("chat/completions"),
      engine("chat/completions"),
      faced("POST /v1/messages", "messages"),
      faced("POST /v1/responses", "responses"),
      faced("POST /responses", "responses"),
      faced("POST /v1/responses/compact", "responses"),
      faced("POST /responses/compact", "responses"),
      faced("POST /v1beta/models/{model...}:generateContent", "gemini"),
      faced("POST /v1beta/models/{model...}:streamGenerateContent", "gemini"),
      faced("POST /v1/models/{model...}:generateContent", "gemini"),
      faced("POST /v1/models/{model...}:streamGenerateContent", "gemini"),
    ],
    operation: "chat",
    steps: CALLING.flatMap((step) => (step === "auth" ? [step, "responses"] : [step])),
  },
  embeddings: {
    routes: [
      "POST /v1/embeddings",
      "POST /embeddings",
      deployment("embeddings"),
      engine("embeddings"),
    ],
    operation: "embeddings",
    steps: CALLING,
  },
  images: {
    routes: [
      "POST /v1/images/generations",
      "POST /images/generations",
      deployment("images/generations"),
    ],
    operation: "images",
    steps: CALLING.filter((step) => step !== "cache"),
  },
  "model-info": {
    routes: ["GET /v1/model/info", "GET /model/info"],
    operation: "models",
    steps: ["auth", "model-info"],
  },
  models: {
    routes: [
      "GET /v1/models",
      "GET /models",
      "GET /v1/models/{model_id...}",
      "GET /models/{model_id...}",
      faced("GET /v1beta/models", "gemini"),
      faced("GET /v1beta/models/{model_id...}", "gemini"),
    ],
    operation: "models",
    steps: ["auth", "models"],
  },
  passthrough: {
    routes: ["POST", "GET", "PUT", "PATCH", "DELETE"].map(
      (method) => `${method} /{provider}/{endpoint...}`,
    ),
    operation: "passthrough",
    steps: ["auth", "cost", "limits", "idempotency", "guardrails", "passthrough"],
  },
  responses: {
    routes: ["/v1/responses", "/responses"].flatMap((path) =>
      [
        `GET ${path}/{response_id}`,
        `DELETE ${path}/{response_id}`,
        `GET ${path}/{response_id}/input_items`,
        `POST ${path}/{response_id}/cancel`,
      ].map((route) => faced(route, "responses")),
    ),
    operation: "responses",
    steps: ["auth", "cost", "limits", "stored-responses"],
  },
  spend: {
    routes: ["GET /spend/logs", "GET /spend/tags", "GET /spend/report"],
    operation: "spend",
    steps: ["auth", "cost", "limits", "spend"],
  },
  tokens: {
    routes: [
      faced("POST /v1/messages/count_tokens", "messages"),
      faced("POST /v1/responses/input_tokens", "responses"),
      faced("POST /responses/input_tokens", "responses"),
      faced("POST /v1beta/models/{model...}:countTokens", "gemini"),
      faced("POST /v1/models/{model...}:countTokens", "gemini"),
    ],
    operation: "tokens",
    steps: ["auth", "responses", "cost", "limits", "tokens"],
  },
  "spend-calculate": {
    routes: ["POST /spend/calculate"],
    operation: "spend",
    steps: ["auth", "cost", "limits", "spend"],
  },
};

/** Texts of the files by their names. */
export function pipelineFiles(
  settings: ImportedSettings,
  guardrails: readonly ImportedGuardrail[],
): Readonly<Record<string, string>> {
  const input = guardrails.filter((guardrail) => guardrail.input).map(({ name }) => name);
  const output = guardrails.filter((guardrail) => guardrail.output).map(({ name }) => name);
  const options: Readonly<Record<string, object>> = {
    ...settings.steps,
    guardrails: {
      ...(input.length === 0 ? {} : { input }),
      ...(output.length === 0 ? {} : { output }),
      // These judge whole texts only, and a window over a stream would be refused.
      ...(guardrails.some((guardrail) => guardrail.output && WHOLE_TEXTS.has(guardrail.package))
        ? { stream: "hold" }
        : {}),
    },
  };
  return Object.fromEntries(
    Object.entries(SHIPPED).map(([name, { routes, operation, steps }]) => [
      `${name}.yaml`,
      [
        "version: 1",
        `pipeline: ${name}`,
        "routes:",
        ...routes.map((route) => `  - ${typeof route === "string" ? route : flow(route)}`),
        `operation: ${operation}`,
        ...(steps.includes("auth") && steps.length > 3 ? [`deadline: ${settings.deadline}`] : []),
        "steps:                           # outermost first",
        ...steps.map((step) => stepLine(step, options[step] ?? {})),
        "end_of_config: true",
        "",
      ].join("\n"),
    ]),
  );
}

const WHOLE_TEXTS = new Set(["moderation", "http", "words"]);

function stepLine(step: string, options: object): string {
  return Object.keys(options).length === 0
    ? `  - ${step}`
    : `  - ${flow({ use: step, with: options })}`;
}
