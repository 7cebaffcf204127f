/** Fields that embeddings and images requests share: their types, and the gateway's own among them. */

import {
  type ClientRequest,
  GatewayError,
  type GatewayRequest,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "@sluice/spec";
import { isObject } from "@sluice/kit";

/** Fields that are the gateway's and never go to an upstream. */
const GATEWAY_FIELDS = [
  "guardrails",
  "caching",
  "cache",
  "num_retries",
  "fallbacks",
  "drop_params",
  "timeout",
  "tags",
  "metadata",
] as const;

/** Keys of `metadata` that steer the gateway and are not recorded as they are. */
const STEERING_METADATA = new Set(["tags", "guardrails", "spend_logs_metadata"]);
const NO_FIELDS = Object.freeze({});
const MAX_CLIENT_ID = 256;
const MS_PER_SECOND = 1_000;

/** What a field must be, in words and as a check. A null is as good as an absent field. */
export type FieldRule = readonly [name: string, expected: string, matches: (field: JsonValue) => boolean];

/** Checks that are needed more than once. */
export const isString = (field: JsonValue): boolean => typeof field === "string";
export const isCount = (field: JsonValue): boolean => typeof field === "number" && Number.isInteger(field) && field >= 1;

const COMMON_RULES: readonly FieldRule[] = [
  ["user", "a string", isString],
  ["caching", "a boolean", (field) => typeof field === "boolean"],
  ["cache", "an object", isObject],
  ["drop_params", "a boolean", (field) => typeof field === "boolean"],
  ["metadata", "an object", isObject],
  ["timeout", "a number of seconds greater than 0", (field) => typeof field === "number" && field > 0],
];

/** A field that must be a string of at least one character. Throws `invalid_field`. */
export function requireString(value: JsonObject, name: string): string {
  const field = value[name];
  if (typeof field === "string" && field !== "") return field;
  throw invalid(
    name,
    field === undefined ? `The field ${name} is missing.` : `The field ${name} must be a string that is not empty.`,
  );
}

/** Holds the fields of a body against rules, those of every request included. Throws `invalid_field`. */
export function checkFields(value: JsonObject, rules: readonly FieldRule[]): void {
  for (const [name, expected, matches] of [...COMMON_RULES, ...rules]) {
    const field = value[name];
    if (field === undefined || field === null || matches(field)) continue;
    throw invalid(name, `The field ${name} must be ${expected}.`);
  }
}

/** The error of one field. */
export function invalid(param: string, message: string): GatewayError {
  return new GatewayError("invalid_field", message, { param });
}

/** The request of a body whose fields have been checked: the gateway's own are taken out of the document. */
export function requestOf(document: JsonDocument, client: ClientRequest, model: string): GatewayRequest {
  const { value } = document;
  const metadata = isObject(value.metadata) ? value.metadata : {};
  return {
    ...splitGatewayFields(document),
    ...(typeof value.timeout === "number" ? { timeoutMs: value.timeout * MS_PER_SECOND } : {}),
    model,
    stream: false,
    includeUsage: false,
    endUser: typeof value.user === "string" ? value.user : null,
    tags: tagsOf(value.tags, metadata.tags, client.header("x-sluice-tags")),
    metadata: recordedMetadata(metadata, client.header("x-request-id")),
  };
}

function splitGatewayFields(document: JsonDocument): Pick<GatewayRequest, "document" | "fields"> {
  const present = GATEWAY_FIELDS.filter((name) => Object.hasOwn(document.value, name));
  if (present.length === 0) return { document, fields: NO_FIELDS };
  return {
    document: document.with(Object.fromEntries(present.map((name) => [name, undefined]))),
    fields: Object.fromEntries(present.map((name) => [name, document.value[name]])),
  };
}

function tagsOf(tags: JsonValue | undefined, metadataTags: JsonValue | undefined, header: string | undefined): readonly string[] {
  if (tags === undefined && metadataTags === undefined && header === undefined) return [];
  const fromHeader = header?.split(",").map((tag) => tag.trim()) ?? [];
  return [...new Set([...strings(tags), ...strings(metadataTags), ...fromHeader].filter((tag) => tag !== ""))];
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function recordedMetadata(metadata: JsonObject, clientId: string | undefined): Readonly<Record<string, unknown>> {
  const { spend_logs_metadata: extra } = metadata;
  return {
    ...Object.fromEntries(Object.entries(metadata).filter(([name]) => !STEERING_METADATA.has(name))),
    ...(isObject(extra) ? { spend_logs_metadata: extra } : {}),
    ...(clientId === undefined ? {} : { client_request_id: clientId.slice(0, MAX_CLIENT_ID) }),
  };
}
