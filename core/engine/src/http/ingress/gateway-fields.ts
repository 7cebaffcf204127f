/** The gateway's own fields of a request body: checked, taken out, and never forwarded. */

import {
  type ClientRequest,
  type GatewayFields,
  type GatewayRequest,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "@sluice/spec";
import { isObject } from "@sluice/kit";
import { type FieldTable, invalidField } from "./body-fields.ts";

const MAX_TAGS = 64;
const MAX_TAG_CHARACTERS = 256;
const MAX_METADATA_ENTRIES = 64;
/** The reference API's own bound. */
const MAX_METADATA_TEXT = 512;
/** Of a value that is no text, as JSON. */
const MAX_METADATA_JSON = 2_048;
const MAX_USER_CHARACTERS = 256;
const MIN_TIMEOUT_MS = 1_000;

const TAG = {
  type: "string",
  maxLength: MAX_TAG_CHARACTERS,
  pattern: "^[^\\u0000-\\u001f\\u007f]*$",
  "x-words": `a string of at most ${MAX_TAG_CHARACTERS} characters without control characters`,
} as const;
const TAGS = { type: "array", maxItems: MAX_TAGS, items: TAG } as const;
const GUARDRAILS = {
  type: "array",
  maxItems: 64,
  items: { anyOf: [{ type: "string" }, { type: "object", additionalProperties: { type: "object" } }] },
} as const;
const SECONDS = { type: "number", minimum: 0 } as const;

/** Fields that every operation with a JSON body takes. */
export const GATEWAY_FIELDS = {
  model: {
    isRequired: true,
    schema: {
      type: "string",
      minLength: 1,
      pattern: "^[^\\u0000-\\u001f\\u007f]*$",
      "x-words": "a string that is not empty and has no control characters",
      description: "The id of a model, as `GET /v1/models` lists it.",
      examples: ["gpt-4o-mini"],
    },
  },
  metadata: {
    schema: {
      type: "object",
      maxProperties: MAX_METADATA_ENTRIES,
      properties: {
        tags: { ...TAGS, type: ["array", "null"] },
        guardrails: { ...GUARDRAILS, type: ["array", "null"] },
        spend_logs_metadata: { type: ["object", "null"], maxProperties: MAX_METADATA_ENTRIES },
      },
      description: "Notes for the spend row. Sent to the provider only where the target says `forward_metadata: true`.",
      examples: [{ ticket: "T-1", tags: ["project:demo"] }],
    },
  },
  tags: { schema: { ...TAGS, description: "Tags of the spend row.", examples: [["project:demo"]] } },
  guardrails: {
    schema: {
      ...GUARDRAILS,
      description: "Names of guardrails to run in addition, or objects of a name and its options.",
      examples: [[]],
    },
  },
  caching: {
    schema: {
      type: "boolean",
      description: "false: the answer is neither read from a cache nor written to one.",
      examples: [false],
    },
  },
  cache: {
    schema: {
      type: "object",
      properties: {
        ttl: { ...SECONDS, type: ["number", "null"] },
        "s-maxage": { ...SECONDS, type: ["number", "null"] },
        "no-cache": { type: ["boolean", "null"] },
        "no-store": { type: ["boolean", "null"] },
        namespace: { type: ["string", "null"], maxLength: MAX_TAG_CHARACTERS },
      },
      description: "Cache controls, in HTTP's words.",
      examples: [{ "no-store": true }],
    },
  },
  num_retries: {
    schema: { type: "integer", minimum: 0, description: "How often a failed call is tried again, at most.", examples: [1] },
  },
  fallbacks: {
    schema: {
      type: "array",
      maxItems: 64,
      items: { anyOf: [{ type: "string" }, { type: "object", required: ["model"], properties: { model: { type: "string" } } }] },
      description: "Models to try instead when the first fails; `[]` switches fallback off.",
      examples: [["gpt-4o"]],
    },
  },
  context_window_fallback_dict: {
    schema: {
      type: "object",
      maxProperties: 64,
      additionalProperties: { type: "string" },
      description: "For a prompt that does not fit: a larger model by model.",
      examples: [{ "gpt-4o-mini": "gpt-4o" }],
    },
  },
  timeout: {
    schema: {
      type: "number",
      description: "Seconds until the answer must be there; at least 1, at most the route's deadline.",
      examples: [30],
    },
  },
  drop_params: {
    schema: {
      type: "boolean",
      description: "Leave out parameters that the provider cannot honour; `x-sluice-dropped-params` lists them.",
      examples: [true],
    },
  },
} as const satisfies FieldTable;

/** Names that never reach an upstream. The model does, as the target's. */
const CONSUMED = Object.keys(GATEWAY_FIELDS).filter((name) => name !== "model");

/** Keys of `metadata` that steer the gateway and are not recorded as they are. */
const STEERING_METADATA = new Set(["tags", "guardrails", "spend_logs_metadata"]);

const NO_FIELDS: GatewayFields = Object.freeze({});
const NO_TAGS: readonly string[] = Object.freeze([]);
const NO_METADATA: JsonObject = Object.freeze({});

/** What every operation takes out of a body. */
export type CommonPart = Pick<GatewayRequest, "document" | "fields" | "model" | "timeoutMs" | "endUser" | "tags" | "metadata">;

/** The common part of a body whose fields have been checked. Throws `invalid_field` for what no table can say. */
export function takeGatewayFields(document: JsonDocument, client: ClientRequest): CommonPart {
  const { value } = document;
  const present = CONSUMED.filter((name) => name in value);
  const fields: GatewayFields = present.length === 0 ? NO_FIELDS : Object.fromEntries(present.map((name) => [name, value[name]]));
  const metadata = isObject(value.metadata) ? value.metadata : NO_METADATA;
  if (present.length > 0) checkValues(metadata);
  return {
    document: present.length === 0 ? document : document.with(Object.fromEntries(present.map((name) => [name, undefined]))),
    fields,
    model: String(value.model),
    ...(typeof value.timeout === "number" ? { timeoutMs: Math.max(MIN_TIMEOUT_MS, value.timeout * 1_000) } : {}),
    endUser: typeof value.user === "string" ? value.user.slice(0, MAX_USER_CHARACTERS) : null,
    tags: tagsOf(value.tags, metadata.tags, client.header("x-sluice-tags")),
    metadata: recordedMetadata(metadata, client.header("x-request-id")),
  };
}

/**
 * The guardrails that a request asks for, by their names. Throws `invalid_field` for a name that `isKnown` does not know, and for
 * options: what a guardrail does is the operator's to say.
 */
export function requestedGuardrails(fields: GatewayFields, isKnown: (name: string) => boolean): readonly string[] {
  const { guardrails, metadata } = fields;
  if (guardrails === undefined && metadata === undefined) return NO_NAMES;
  const inMetadata = isObject(metadata as JsonValue) ? (metadata as JsonObject).guardrails : undefined;
  const names = [
    ...namesAt(["guardrails"], guardrails as JsonValue | undefined, isKnown),
    ...namesAt(["metadata", "guardrails"], inMetadata, isKnown),
  ];
  return [...new Set(names)];
}

const NO_NAMES: readonly string[] = Object.freeze([]);

function namesAt(place: readonly string[], value: JsonValue | undefined, isKnown: (name: string) => boolean): string[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly JsonValue[]).flatMap((entry, index) => {
    const named: readonly (readonly [string, JsonValue | undefined])[] = isObject(entry)
      ? Object.entries(entry)
      : [[String(entry), undefined]];
    return named.map(([name, options]) => {
      if (!isKnown(name)) {
        const said = JSON.stringify(name.slice(0, 80));
        throw invalidField([...place, index], `names the guardrail ${said}, which does not exist`);
      }
      if (isObject(options) && Object.keys(options).length > 0)
        throw invalidField([...place, index], "has options, which only the configuration can give to a guardrail");
      return name;
    });
  });
}

function checkValues(metadata: JsonObject): void {
  for (const [name, value] of Object.entries(metadata)) {
    if (name === "spend_logs_metadata" && isObject(value)) checkEntries(["metadata", name], value);
    else if (!STEERING_METADATA.has(name)) checkEntry(["metadata", name.slice(0, 80)], value);
  }
}

function checkEntries(place: readonly string[], entries: JsonObject): void {
  for (const [name, value] of Object.entries(entries)) checkEntry([...place, name.slice(0, 80)], value);
}

function checkEntry(place: readonly string[], value: JsonValue | undefined): void {
  if (typeof value === "string") {
    if (value.length > MAX_METADATA_TEXT)
      throw invalidField(place, `must be a string of at most ${MAX_METADATA_TEXT} characters`);
  } else if (typeof value === "object" && JSON.stringify(value).length > MAX_METADATA_JSON) {
    throw invalidField(place, `must be JSON of at most ${MAX_METADATA_JSON} characters`);
  }
}

function tagsOf(tags: JsonValue | undefined, metadataTags: JsonValue | undefined, header: string | undefined): readonly string[] {
  if (tags === undefined && metadataTags === undefined && header === undefined) return NO_TAGS;
  const fromHeader = header?.split(",", MAX_TAGS).map((tag) => tag.trim().slice(0, MAX_TAG_CHARACTERS)) ?? [];
  const all = [...strings(tags), ...strings(metadataTags), ...fromHeader].filter((tag) => tag !== "");
  return [...new Set(all)];
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function recordedMetadata(metadata: JsonObject, clientId: string | undefined): Readonly<Record<string, unknown>> {
  if (metadata === NO_METADATA && clientId === undefined) return NO_METADATA;
  const recorded = Object.entries(metadata).filter(([name]) => !STEERING_METADATA.has(name));
  const { spend_logs_metadata: extra } = metadata;
  return {
    ...Object.fromEntries(recorded),
    ...(isObject(extra) ? { spend_logs_metadata: extra } : {}),
    ...(clientId === undefined ? {} : { client_request_id: clientId.slice(0, MAX_USER_CHARACTERS) }),
  };
}
