/**
 * The gateway's own fields of a request: checked, taken out of the body, and never forwarded.
 * Headers stand in for them where a body has no member.
 */

import {
  type ClientRequest,
  type GatewayFields,
  type GatewayRequest,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  GatewayError,
} from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";
import { gatewayFieldKind, isGatewayOnly } from "@sluice/runtime/dialect";
import { compileFields, invalidField, compileShape } from "../body-fields.ts";
import { GATEWAY_FIELDS, MAX_TAG_CHARACTERS, MAX_TAGS, NOTES } from "./table.ts";

/** The reference API's own bound. */
const MAX_METADATA_TEXT = 512;
/** Of a value that is no text, as JSON. */
const MAX_METADATA_JSON = 2_048;
const MAX_CLIENT_ID_CHARACTERS = 256;

/** Keys of `metadata` that control the gateway and are not recorded unchanged. */
const STEERING_METADATA = new Set(["tags", "guardrails", "spend_logs_metadata"]);

const NO_FIELDS: GatewayFields = Object.freeze({});
const NO_TAGS: readonly string[] = Object.freeze([]);
const NO_METADATA: JsonObject = Object.freeze({});

/** The fields that every operation removes from a body. */
export type CommonPart = Pick<
  GatewayRequest,
  "document" | "fields" | "model" | "timeoutMs" | "endUser" | "tags" | "metadata"
>;

/**
 * The gateway's fields of a native body and its headers. `cut` names the members that the upstream
 * must not receive.
 */
export type NativePart = Omit<CommonPart, "document" | "model"> & {
  readonly cut: readonly string[];
};

const checkNotes = compileShape(NOTES);
const { model: _model, metadata: _metadata, ...OWN_OF_NATIVE } = GATEWAY_FIELDS;
const checkNativeFields = compileFields(OWN_OF_NATIVE);

/**
 * Removes the gateway's fields from a checked body. `x-sluice-*` headers replace absent members.
 * Throws `invalid_field` for faults that no table can express.
 */
export function takeGatewayFields(document: JsonDocument, client: ClientRequest): CommonPart {
  const { value } = document;
  const taken: string[] = [];
  for (const name in value) {
    const kind = gatewayFieldKind(name);
    if (kind === "own" || kind === "foreign") taken.push(name);
  }
  const read = readFields(
    value,
    taken,
    isObject(value.metadata) ? value.metadata : NO_METADATA,
    client,
  );
  // Spread first: V8 copies an object that stands first in a literal, and adds one that stands
  // later member by member.
  return {
    ...read,
    document:
      taken.length === 0
        ? document
        : document.with(Object.fromEntries(taken.map((name) => [name, undefined]))),
    model: String(value.model),
  };
}

/**
 * The same of a native body, which keeps its `metadata`. `native` are the fields of the upstream's
 * own, `extended` is what extensions read. Throws `invalid_field` for a gateway's field that is
 * wrong.
 */
export function takeNativeFields(
  body: JsonObject,
  client: ClientRequest,
  native: readonly string[] = [],
  extended: ExtendedFields = NOT_EXTENDED,
): NativePart {
  const cut = Object.keys(body).filter((name) => isGatewayOnly(name, native));
  const own: JsonObject = {
    ...Object.fromEntries(
      cut.filter((name) => !extended.taken.includes(name)).map((name) => [name, body[name]]),
    ),
    ...extended.fields,
  };
  if (cut.length > 0) checkNativeFields(own);
  const { user: _user, safety_identifier: _identifier, ...others } = own;
  const ofMetadata = isObject(body.metadata) ? body.metadata.user_id : undefined;
  const user = customerIn([own.user, body.user, body.safety_identifier, ofMetadata]);
  const taken = extended === NOT_EXTENDED ? cut : Object.keys(own);
  return { ...readFields({ ...others, user }, taken, NO_METADATA, client), cut };
}

/** What an extension has read of a native body: fields of the gateway, and members that it took. */
export interface ExtendedFields {
  readonly fields: JsonObject;
  readonly taken: readonly string[];
}

const NOT_EXTENDED: ExtendedFields = Object.freeze({ fields: NO_METADATA, taken: NO_TAGS });

/** Checks notes of a header, as those of a body. Throws `invalid_field`. */
export function checkRecorded(metadata: JsonObject): void {
  checkValues(["metadata"], metadata);
}

function readFields(
  value: JsonObject,
  taken: readonly string[],
  metadata: JsonObject,
  client: ClientRequest,
): Omit<CommonPart, "document" | "model"> {
  const notes = readNotes(value.litellm_metadata);
  const headerTimeout = wholeNumber(client, TIMEOUT, 1);
  const numRetries = wholeNumber(client, NUM_RETRIES, 0);
  if (metadata !== NO_METADATA) checkValues(["metadata"], metadata);
  const timeout = value.timeout ?? headerTimeout;
  const read = {
    fields: fieldsOf(value, taken, notes, numRetries),
    endUser: customerIn([value.user, value.safety_identifier, notes.user]),
    tags: tagsOf([value.tags, metadata.tags, notes.tags], client.header("x-sluice-tags")),
    metadata: recordedMetadata(notes, metadata, client.header("x-request-id")),
  };
  return typeof timeout === "number" ? { ...read, timeoutMs: timeout * 1_000 } : read;
}

/** The first of these values that may be the id of a customer. `auth` checks it. */
function customerIn(values: readonly (JsonValue | undefined)[]): string | null {
  for (const value of values) if (typeof value === "string" && value !== "") return value;
  return null;
}

/** The fields by their names, as the steps read them. */
function fieldsOf(
  value: JsonObject,
  taken: readonly string[],
  notes: JsonObject,
  numRetries: number | undefined,
): GatewayFields {
  const isRetried = numRetries !== undefined && (value.num_retries ?? undefined) === undefined;
  if (taken.length === 0 && !isRetried) return NO_FIELDS;
  const isFixed = value.disable_fallbacks === true && (value.fallbacks ?? undefined) === undefined;
  return {
    ...Object.fromEntries(taken.map((name) => [name, value[name]])),
    ...(notes === NO_METADATA ? {} : { litellm_metadata: notes }),
    ...(isRetried ? { num_retries: numRetries } : {}),
    ...(isFixed ? { fallbacks: [] } : {}),
  };
}

/** `litellm_metadata`: an object, or one as JSON text. */
function readNotes(value: JsonValue | undefined): JsonObject {
  if (value === undefined || value === null) return NO_METADATA;
  const notes = typeof value === "string" ? parsed(value) : value;
  if (!isObject(notes))
    throw invalidField(["litellm_metadata"], "must be an object, or one as JSON text");
  const fault = checkNotes(notes);
  if (fault !== undefined) throw invalidField(["litellm_metadata", ...fault.path], fault.problem);
  checkValues(["litellm_metadata"], notes);
  return notes;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * The guardrails that a request names. `isKnown`: whether the request's key may name it. Throws
 * `invalid_field` for another name, and for options, which only the operator sets.
 */
export function requestedGuardrails(
  fields: GatewayFields,
  isKnown: (name: string) => boolean,
): readonly string[] {
  const { guardrails, metadata, litellm_metadata: notes } = fields;
  if (guardrails === undefined && metadata === undefined && notes === undefined) return NO_NAMES;
  const inside = (value: unknown): JsonValue | undefined =>
    isObject(value as JsonValue) ? (value as JsonObject).guardrails : undefined;
  const names = [
    ...namesAt(["guardrails"], guardrails as JsonValue | undefined, isKnown),
    ...namesAt(["metadata", "guardrails"], inside(metadata), isKnown),
    ...namesAt(["litellm_metadata", "guardrails"], inside(notes), isKnown),
  ];
  return [...new Set(names)];
}

const NO_NAMES: readonly string[] = Object.freeze([]);

function namesAt(
  place: readonly string[],
  value: JsonValue | undefined,
  isKnown: (name: string) => boolean,
): string[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly JsonValue[]).flatMap((entry, index) => {
    const named: readonly (readonly [string, JsonValue | undefined])[] = isObject(entry)
      ? Object.entries(entry)
      : [[String(entry), undefined]];
    return named.map(([name, options]) => {
      if (!isKnown(name)) {
        const said = JSON.stringify(name.slice(0, 80));
        throw invalidField(
          [...place, index],
          `names the guardrail ${said}, which does not exist or is not for this key`,
        );
      }
      if (isObject(options) && Object.keys(options).length > 0)
        throw invalidField(
          [...place, index],
          "has options, which only the configuration can give to a guardrail",
        );
      return name;
    });
  });
}

function checkValues(place: readonly string[], metadata: JsonObject): void {
  for (const [name, value] of Object.entries(metadata)) {
    if (name === "spend_logs_metadata" && isObject(value)) checkEntries([...place, name], value);
    else if (!STEERING_METADATA.has(name)) checkEntry([...place, name.slice(0, 80)], value);
  }
}

function checkEntries(place: readonly string[], entries: JsonObject): void {
  for (const [name, value] of Object.entries(entries))
    checkEntry([...place, name.slice(0, 80)], value);
}

function checkEntry(place: readonly string[], value: JsonValue | undefined): void {
  if (typeof value === "string") {
    if (value.length > MAX_METADATA_TEXT)
      throw invalidField(place, `must be a string of at most ${MAX_METADATA_TEXT} characters`);
  } else if (typeof value === "object" && JSON.stringify(value).length > MAX_METADATA_JSON) {
    throw invalidField(place, `must be JSON of at most ${MAX_METADATA_JSON} characters`);
  }
}

function tagsOf(
  lists: readonly (JsonValue | undefined)[],
  header: string | undefined,
): readonly string[] {
  if (header === undefined && lists.every((list) => list === undefined)) return NO_TAGS;
  const fromHeader =
    header?.split(",", MAX_TAGS).map((tag) => tag.trim().slice(0, MAX_TAG_CHARACTERS)) ?? [];
  const all = [...lists.flatMap(strings), ...fromHeader].filter((tag) => tag !== "");
  return [...new Set(all)];
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/**
 * The recorded metadata. `metadata` wins over `litellm_metadata`, whose `user` is the row's end
 * user.
 */
function recordedMetadata(
  notes: JsonObject,
  metadata: JsonObject,
  clientId: string | undefined,
): Readonly<Record<string, unknown>> {
  if (notes === NO_METADATA && metadata === NO_METADATA && clientId === undefined)
    return NO_METADATA;
  const { user: _user, ...others } = notes;
  const recorded = Object.entries({ ...others, ...metadata }).filter(
    ([name]) => !STEERING_METADATA.has(name),
  );
  const extra = metadata.spend_logs_metadata ?? notes.spend_logs_metadata;
  return {
    ...Object.fromEntries(recorded),
    ...(isObject(extra) ? { spend_logs_metadata: extra } : {}),
    ...(clientId === undefined
      ? {}
      : { client_request_id: clientId.slice(0, MAX_CLIENT_ID_CHARACTERS) }),
  };
}

const TIMEOUT = "x-sluice-timeout";
const NUM_RETRIES = "x-sluice-num-retries";

/**
 * The number in a header. Throws `invalid_field`, with the header's name as `param`, for a value
 * that is not a whole number in range.
 */
function wholeNumber(client: ClientRequest, name: string, least: number): number | undefined {
  const text = client.header(name)?.trim();
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value >= least) return value;
  throw new GatewayError(
    "invalid_field",
    `The header ${name} must be a whole number, ${least} or more.`,
    { param: name },
  );
}
