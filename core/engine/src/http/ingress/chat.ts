/** Chat requests of the reference dialect: the shape check, and the gateway's own fields taken out. */

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
  "context_window_fallback_dict",
  "timeout",
  "tags",
  "metadata",
] as const;

/** Keys of `metadata` that steer the gateway and are not recorded as they are. */
const STEERING_METADATA = new Set(["tags", "guardrails", "spend_logs_metadata"]);

/** The request of a chat body. Throws `invalid_field` with the field's name. */
export function receiveChat(document: JsonDocument, client: ClientRequest): GatewayRequest {
  const { value } = document;
  const model = requireString(value, "model");
  checkMessages(value.messages);
  checkType(value, "stream", "a boolean", (field) => typeof field === "boolean");
  checkType(value, "stream_options", "an object", isObject);
  checkType(value, "metadata", "an object", isObject);
  checkType(value, "user", "a string", (field) => typeof field === "string");
  const metadata = isObject(value.metadata) ? value.metadata : {};
  const options = isObject(value.stream_options) ? value.stream_options : {};
  return {
    ...splitGatewayFields(document),
    model,
    stream: value.stream === true,
    includeUsage: options.include_usage === true,
    endUser: typeof value.user === "string" ? value.user : null,
    tags: tagsOf(value.tags, metadata.tags, client.header("x-sluice-tags")),
    metadata: recordedMetadata(metadata, client.header("x-request-id")),
  };
}

function requireString(value: JsonObject, name: string): string {
  const field = value[name];
  if (typeof field === "string" && field !== "") return field;
  const said = field === undefined ? `The field ${name} is missing.` : `The field ${name} must be a string that is not empty.`;
  throw new GatewayError("invalid_field", said, { param: name });
}

function checkMessages(messages: JsonValue | undefined): void {
  const param = "messages";
  if (messages === undefined) throw new GatewayError("invalid_field", "The field messages is missing.", { param });
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new GatewayError("invalid_field", "The field messages must be an array with at least one message.", { param });
  }
  for (const [index, message] of messages.entries()) {
    if (!isObject(message) || typeof message.role !== "string") {
      throw new GatewayError("invalid_field", `messages[${index}] must be an object with a role.`, {
        param: `messages[${index}]`,
      });
    }
  }
}

function checkType(value: JsonObject, name: string, expected: string, matches: (field: JsonValue) => boolean): void {
  const field = value[name];
  if (field === undefined || field === null || matches(field)) return;
  throw new GatewayError("invalid_field", `The field ${name} must be ${expected}.`, { param: name });
}

function splitGatewayFields(document: JsonDocument): Pick<GatewayRequest, "document" | "fields"> {
  const present = GATEWAY_FIELDS.filter((name) => name in document.value);
  if (present.length === 0) return { document, fields: NO_FIELDS };
  return {
    document: document.with(Object.fromEntries(present.map((name) => [name, undefined]))),
    fields: Object.fromEntries(present.map((name) => [name, document.value[name]])),
  };
}

const NO_FIELDS = Object.freeze({});

function tagsOf(tags: JsonValue | undefined, metadataTags: JsonValue | undefined, header: string | undefined): readonly string[] {
  if (tags === undefined && metadataTags === undefined && header === undefined) return [];
  const fromHeader = header?.split(",").map((tag) => tag.trim()) ?? [];
  const all = [...strings(tags), ...strings(metadataTags), ...fromHeader].filter((tag) => tag !== "");
  return [...new Set(all)];
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function recordedMetadata(metadata: JsonObject, clientId: string | undefined): Readonly<Record<string, unknown>> {
  const recorded = Object.entries(metadata).filter(([name]) => !STEERING_METADATA.has(name));
  const { spend_logs_metadata: extra } = metadata;
  return {
    ...Object.fromEntries(recorded),
    ...(isObject(extra) ? { spend_logs_metadata: extra } : {}),
    ...(clientId === undefined ? {} : { client_request_id: clientId.slice(0, 256) }),
  };
}
