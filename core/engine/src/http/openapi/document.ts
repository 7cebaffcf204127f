/**
 * The OpenAPI 3.1 document of a generation: its routes, and the schemas that the ingress checks
 * bodies with.
 */

import { createHash } from "node:crypto";
import type { JsonObject, JsonValue, Operation } from "@sluice/contract";
import type { CompiledRoute } from "../../pipeline/compile.ts";
import { bodyOf } from "../ingress/body-schemas.ts";
import { documented, errorReferences, errorResponses } from "./error-responses.ts";
import { BODIES, QUERIES } from "./queries.ts";
import { ERROR_SCHEMA, REPLIES } from "./replies.ts";

/** The parts of a document. */
export interface DocumentParts {
  readonly routes: Iterable<{
    readonly method: string;
    readonly path: string;
    readonly value: CompiledRoute;
  }>;
  /** Headers that carry a key besides `authorization`. */
  readonly authHeaders: readonly string[];
}

const SUMMARIES: Readonly<Record<Operation, string>> = {
  chat: "Create a chat completion",
  embeddings: "Create embeddings",
  images: "Generate images",
  passthrough: "Call a provider's own API",
  models: "Read models",
  spend: "Read spend",
  tokens: "Count the tokens of a prompt",
  responses: "Read, end or delete a stored response",
};

/** Headers that unmodified native SDKs send. */
const NATIVE_HEADERS = ["api-key", "x-api-key", "x-goog-api-key"];

/** Methods that OpenAPI supports. */
const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);

/** The document. Equal parts give equal documents. */
export function openapiDocument({ routes, authHeaders }: DocumentParts): JsonObject {
  const paths: Record<string, Record<string, JsonValue>> = {};
  for (const { method, path, value } of routes) {
    if (!METHODS.has(method)) continue;
    const shown = path.replaceAll("...}", "}");
    (paths[shown] ??= {})[method.toLowerCase()] = operationOf(method, path, value, authHeaders);
  }
  paths["/health/live"] = { get: healthOf("Whether the process lives") };
  paths["/health/ready"] = { get: healthOf("Whether requests are admitted") };
  return {
    openapi: "3.1.0",
    info: {
      title: "Sluice",
      version: "1.0.0",
      description:
        "One API in front of every model provider. This document lists what this gateway serves now.",
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      schemas: componentSchemas(),
      responses: errorResponses(),
      headers: HEADERS,
      securitySchemes: securitySchemes(authHeaders),
    },
    security: securityOf(authHeaders),
  };
}

function operationOf(
  method: string,
  path: string,
  route: CompiledRoute,
  authHeaders: readonly string[],
): JsonObject {
  const { operation } = route;
  const isNative = operation === "passthrough" || path.includes("{deployment");
  const isFaced = route.face !== undefined;
  const keyHeaders = isNative ? NATIVE_HEADERS : (route.face?.keyHeaders ?? []);
  const parameters = [
    ...pathParameters(path),
    ...(QUERIES[`${method} ${path}`] ?? QUERIES[path] ?? []),
  ];
  return {
    operationId: `${method.toLowerCase()}_${path.replaceAll(/\W+/g, "_").replaceAll(/^_|_$/g, "")}_${digest(path)}`,
    tags: [route.pipeline],
    summary: SUMMARIES[operation],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(isFaced ? facedBody(operation) : requestBody(method, path, operation, isNative)),
    responses: {
      "200": isFaced ? facedReply(operation) : replyOf(operation),
      ...errorReferences(),
      default: { $ref: "#/components/responses/Error" },
    },
    ...(keyHeaders.length > 0 ? { security: securityOf([...authHeaders, ...keyHeaders]) } : {}),
  };
}

function requestBody(
  method: string,
  path: string,
  operation: Operation,
  isModelInPath: boolean,
): JsonObject {
  if (method === "GET" || method === "HEAD") return {};
  if (operation === "passthrough") return { requestBody: { content: { "*/*": { schema: {} } } } };
  const own = BODIES[path];
  if (own !== undefined)
    return { requestBody: { required: true, content: { "application/json": { schema: own } } } };
  if (bodyOf(operation) === undefined) return {};
  const reference = { $ref: `#/components/schemas/${requestName(operation)}` };
  // On the deployment family the path names the model.
  const schema = isModelInPath
    ? { ...documented(bodyOf(operation) ?? {}), required: requiredWithoutModel(operation) }
    : reference;
  return { requestBody: { required: true, content: { "application/json": { schema } } } };
}

const OBJECT: JsonObject = Object.freeze({ type: "object" });

/** The body of a route with a face: an object of the face's dialect, which its vendor documents. */
const FACED_BODY: JsonObject = {
  requestBody: { required: true, content: { "application/json": { schema: OBJECT } } },
};

/** Requests for kept replies have no body. */
function facedBody(operation: Operation): JsonObject {
  return operation === "responses" ? {} : FACED_BODY;
}

function facedReply(operation: Operation): JsonObject {
  const stream =
    operation === "chat" ? { "text/event-stream": { schema: { type: "string" } } } : {};
  const content = { "application/json": { schema: OBJECT }, ...stream };
  return { description: SUMMARIES[operation], headers: headerReferences(), content };
}

function headerReferences(): JsonObject {
  return Object.fromEntries(
    Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function requiredWithoutModel(operation: Operation): readonly JsonValue[] {
  const required = bodyOf(operation)?.required;
  return Array.isArray(required) ? required.filter((name) => name !== "model") : [];
}

function replyOf(operation: Operation): JsonObject {
  const schema = { $ref: `#/components/schemas/${replyName(operation)}` };
  const headers = headerReferences();
  const content: Record<string, JsonValue> =
    operation === "passthrough" ? { "*/*": { schema } } : { "application/json": { schema } };
  if (operation === "chat") content["text/event-stream"] = { schema: { type: "string" } };
  return { description: SUMMARIES[operation], headers, content };
}

function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{([a-z_]+)(\.\.\.)?\}/g)].map(([, name = "", rest]) => ({
    name,
    in: "path",
    required: true,
    ...(rest === undefined ? {} : { description: "May hold slashes, as they are or encoded." }),
    schema: { type: "string" },
  }));
}

function healthOf(summary: string): JsonObject {
  const content = {
    "application/json": { schema: { type: "object", properties: { status: { type: "string" } } } },
  };
  return {
    operationId: summary.toLowerCase().replaceAll(" ", "_"),
    tags: ["health"],
    summary,
    security: [],
    responses: { "200": { description: "Yes", content }, "503": { description: "No", content } },
  };
}

const HEADERS: JsonObject = {
  "x-request-id": {
    description: "The request's id, a UUIDv7. Rows and logs name it.",
    schema: { type: "string" },
  },
  "x-sluice-generation": {
    description: "Number of the configuration that answered.",
    schema: { type: "integer" },
  },
  "x-sluice-model": { description: "The model that answered.", schema: { type: "string" } },
  "x-sluice-provider": { description: "The provider that answered.", schema: { type: "string" } },
  "x-sluice-attempts": {
    description: "Upstream calls that were made.",
    schema: { type: "integer" },
  },
  "x-sluice-dropped-params": {
    description: "Parameters that were left out, by comma.",
    schema: { type: "string" },
  },
  "x-sluice-cost": {
    description: "US dollars. Absent when unknown, and on streams.",
    schema: { type: "number" },
  },
  "x-sluice-overhead-ms": {
    description: "Milliseconds that the gateway itself took.",
    schema: { type: "number" },
  },
  "x-upstream-request-id": {
    description:
      "The upstream's own id of the request, for its support. Absent where the upstream named none.",
    schema: { type: "string" },
  },
  "x-sluice-explain": {
    description:
      "What happened to the request, as JSON, for a key that asked for it with `x-sluice-explain: 1` and may have it.",
    schema: { type: "string" },
  },
};

function componentSchemas(): JsonObject {
  const schemas: Record<string, JsonValue> = { Error: ERROR_SCHEMA };
  for (const operation of Object.keys(REPLIES) as Operation[]) {
    const body = bodyOf(operation);
    if (body !== undefined) schemas[requestName(operation)] = documented(body);
    schemas[replyName(operation)] = REPLIES[operation];
  }
  return schemas;
}

function requestName(operation: Operation): string {
  return `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Request`;
}

function replyName(operation: Operation): string {
  return `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Reply`;
}

function securitySchemes(authHeaders: readonly string[]): JsonObject {
  const headers = [...new Set([...authHeaders, ...NATIVE_HEADERS])];
  return {
    bearer: { type: "http", scheme: "bearer", description: "`Authorization: Bearer sk-…`" },
    ...Object.fromEntries(headers.map((name) => [name, { type: "apiKey", in: "header", name }])),
  };
}

function securityOf(headers: readonly string[]): JsonObject[] {
  return [{ bearer: [] }, ...[...new Set(headers)].map((name) => ({ [name]: [] }))];
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 4);
}
