/**
 * Objects of a provider's account that a request names by id: files, vector stores, containers,
 * stored prompts, caches. They belong to no key, so a key names those alone that the operator has
 * opened.
 */

import { isObject } from "@sluice/kit";
import {
  GatewayError,
  type Identity,
  type JsonObject,
  type JsonValue,
  type OpenObjects,
  type ProviderInstance,
} from "@sluice/contract";
import { decodeURIComponentSafely } from "../passthrough/request.ts";

/** The identity's part that decides. */
type Asking = Pick<Identity, "kind" | "models" | "modelBounds" | "passthrough">;

/** A name that a request gives to an object. */
interface Named {
  readonly id: string;
  /** The members and items that lead to it, the innermost first. */
  readonly steps: (string | number)[];
}

/** Members whose texts are ids, by themselves or in a list. */
const IDS: ReadonlySet<string> = new Set(
  (
    "file_id file_ids vector_store_id vector_store_ids container_id skill_id " +
    "previous_response_id previous_message_id conversation_id cachedContent cached_content collection_ids library_ids " +
    "fileSearchStoreNames file_search_store_names ragCorpora rag_corpora"
  ).split(" "),
);
/** Members that are an id, or an object with one. `prompt` as a text is a prompt. */
const HANDLES: ReadonlySet<string> = new Set(["container", "conversation"]);
const OBJECTS_WITH_ID: ReadonlySet<string> = new Set([
  "container",
  "conversation",
  "prompt",
  "voice",
]);
/**
 * Members with an address. That of a bucket, of a file of the account or of a resource of its
 * project is an id too.
 */
const ADDRESSES: ReadonlySet<string> = new Set(
  (
    "fileUri file_uri uri url file_url image_url video_url audio_url document_url gcsUri gcs_uri " +
    "storageUri storage_uri datastore dataStore data_store engine ragCorpus rag_corpus " +
    "exampleStore example_store apiKeySecretVersion api_key_secret_version"
  ).split(" "),
);
const OF_ACCOUNT = /^(?:gs|s3):|^(?:files|projects)\//i;
const GOOGLE = /(?:^|\.)googleapis\.com\.?$/;
const FILES = /^\/+(?:download\/|upload\/)?v\d+[a-z\d]*\/files\//i;
/** The maximum of characters of an address: what is longer holds the content itself. */
const MAX_ADDRESS = 4_096;

/** Cohere's connector to the open web, which every account has. */
const WEB_SEARCH = "web-search";
/**
 * Members with content of the client or of the model, in which no upstream looks for an id:
 * documents to rank or to ground a reply in have members of any name.
 */
const CONTENT: ReadonlySet<string> = new Set(
  (
    "documents parameters parametersJsonSchema parameters_json_schema schema input_schema inputSchema output_schema outputSchema json_schema " +
    "responseSchema response_schema responseJsonSchema response_json_schema arguments args response json metadata client_metadata " +
    "labels annotations citations results logprobs"
  ).split(" "),
);

/**
 * Throws `permission_denied` for an object that the key may not name. The refusal is the same
 * whether the object exists or not; `param` is its place.
 */
export function checkAccountObjects(
  body: JsonObject,
  { name, accountObjects = "none" }: Pick<ProviderInstance, "name" | "accountObjects">,
  identity: Asking | undefined,
): void {
  if (identity === undefined || accountObjects === "all" || isTrusted(identity)) return;
  const found = findIn(body, accountObjects) ?? findInPlaces(body, accountObjects);
  if (found === undefined) return;
  const path = pathOf(found);
  throw new GatewayError(
    "permission_denied",
    `${path} names an object of the account of the provider ${name}, which belongs to no key. ` +
      "Send the content itself. The operator opens objects by `account_objects` of the provider.",
    { param: path },
  );
}

/** Such a key reaches the account by native routes. */
function isTrusted({ kind, models, modelBounds, passthrough }: Asking): boolean {
  const isLimited = models.length > 0 || modelBounds !== undefined;
  return kind === "master" || (passthrough === true && !isLimited);
}

/** The first object that is not open in members with rules of their own. */
function findInPlaces(body: JsonObject, open: OpenObjects): Named | undefined {
  const { input, parameters, connectors } = body;
  return (
    // The request that Bedrock's count of tokens has.
    within("input", isObject(input) ? findIn(input, open) : undefined) ??
    within("input", Array.isArray(input) ? findInList(input, open, isKeptItem) : undefined) ??
    // Settings of a prediction of Vertex AI. Those of a tool are a schema.
    within("parameters", isObject(parameters) ? findIn(parameters, open) : undefined) ??
    within(
      "connectors",
      Array.isArray(connectors) ? findInList(connectors, open, isOwnConnector) : undefined,
    )
  );
}

function within(name: string, found: Named | undefined): Named | undefined {
  return found === undefined ? undefined : below(found, name);
}

/** The first object that an item of a list names by its `id`. */
function findInList(
  items: readonly JsonValue[],
  open: OpenObjects,
  namesOne: (item: JsonObject) => boolean,
): Named | undefined {
  for (const [index, item] of items.entries()) {
    if (!isObject(item) || typeof item.id !== "string" || !namesOne(item)) continue;
    const found = named(item.id, open);
    if (found !== undefined) return below(below(found, "id"), index);
  }
  return undefined;
}

/**
 * Whether an item of a response's input stands for one that the upstream keeps
 * (platform.openai.com/docs/api-reference/responses/create: `type` may be absent or null).
 */
function isKeptItem({ type, role, result }: JsonObject): boolean {
  if ((type ?? undefined) === undefined) return (role ?? undefined) === undefined;
  // A picture of an earlier reply is one without its bytes.
  return (
    type === "item_reference" || (type === "image_generation_call" && typeof result !== "string")
  );
}

/** Whether a connector of Cohere is the account's own (docs.cohere.com/v1/reference/chat). */
function isOwnConnector({ id }: JsonObject): boolean {
  return id !== WEB_SEARCH;
}

/** The first object that is not open. A path is made where one is found: a body has many places. */
function findIn(value: JsonValue, open: OpenObjects): Named | undefined {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const each = value[index] as JsonValue;
      if (typeof each !== "object" || each === null) continue;
      const found = findIn(each, open);
      if (found !== undefined) return below(found, index);
    }
    return undefined;
  }
  for (const name in value as JsonObject) {
    const member = (value as JsonObject)[name];
    if (member === undefined || member === null) continue;
    const found =
      typeof member === "object"
        ? findInMember(name, member, open)
        : typeof member === "string" && names(name, member, value as JsonObject)
          ? named(member, open)
          : undefined;
    if (found !== undefined) return below(found, name);
  }
  return undefined;
}

function findInMember(
  name: string,
  member: JsonObject | readonly JsonValue[],
  open: OpenObjects,
): Named | undefined {
  if (CONTENT.has(name)) return undefined;
  if (Array.isArray(member)) {
    if (!IDS.has(name)) return findIn(member, open);
    for (const [index, id] of (member as readonly JsonValue[]).entries()) {
      const found = typeof id === "string" ? named(id, open) : undefined;
      if (found !== undefined) return below(found, index);
    }
    return undefined;
  }
  const object = member as JsonObject;
  // The input of a call of a tool is the model's.
  if (name === "input") return undefined;
  if (typeof object.id === "string" && (OBJECTS_WITH_ID.has(name) || isSpoken(name, object))) {
    const found = named(object.id, open);
    if (found !== undefined) return below(found, "id");
  }
  return findIn(object, open);
}

/** Whether a text of a member names an object. */
function names(name: string, text: string, { type }: JsonObject): boolean {
  if (ADDRESSES.has(name)) return isOfAccount(text);
  if (HANDLES.has(name)) return true;
  // Skills of the vendor belong to all accounts.
  return IDS.has(name) && !(name === "skill_id" && type === "anthropic");
}

/** Whether an address leads into the account, as its parsers read it (url.spec.whatwg.org). */
function isOfAccount(text: string): boolean {
  if (text.startsWith("data:")) return false;
  const address = text
    .slice(0, MAX_ADDRESS)
    .replaceAll(/[\t\r\n]/g, "")
    .trim();
  if (OF_ACCOUNT.test(address)) return true;
  const url = /^https?:/i.test(address) ? URL.parse(address) : null;
  return (
    url !== null && GOOGLE.test(url.hostname) && FILES.test(decodeURIComponentSafely(url.pathname))
  );
}

/** An audio reply of an earlier turn, by its id. */
function isSpoken(name: string, { data }: JsonObject): boolean {
  return name === "audio" && data === undefined;
}

function named(id: string, open: OpenObjects): Named | undefined {
  const isOpen =
    typeof open !== "string" &&
    open.some((pattern) =>
      pattern.endsWith("*") ? id.startsWith(pattern.slice(0, -1)) : id === pattern,
    );
  return isOpen ? undefined : { id, steps: [] };
}

function below(found: Named, step: string | number): Named {
  found.steps.push(step);
  return found;
}

/** `messages[0].content[1].file.file_id`. */
function pathOf({ steps }: Named): string {
  let path = "";
  for (const step of steps.toReversed()) {
    if (typeof step === "number") path += `[${step}]`;
    else path += path === "" ? step : `.${step}`;
  }
  return path;
}
