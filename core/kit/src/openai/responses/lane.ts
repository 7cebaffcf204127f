/**
 * Calls of the native lane to an upstream with OpenAI's Responses API
 * (platform.openai.com/docs/api-reference/responses/create).
 */

import type {
  EncodedCall,
  JsonObject,
  JsonValue,
  NativeDocument,
  Provider,
  ProviderRequest,
  SealedItem,
  Secret,
} from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { reasoningTraits } from "../reasoning-models.ts";

/** The members of a provider whose upstream has the API. */
export const LANE: Required<Pick<Provider, "dialects" | "takesDialect">> = {
  dialects: ["openai/responses"],
  takesDialect: (_dialect, model) => !WITHOUT.test(model),
};

/** What a provider of the API has beside the call. */
interface Place {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | Secret>>;
}

const ENVELOPES = "reasoning.encrypted_content";

/** Models of OpenAI without this API. A deployment of Azure mostly has its model's name. */
const WITHOUT = /(?:^|[/.:-])(?:gpt-35|davinci|babbage|ada\b)|-audio|-search-preview|-realtime/;

/** Ids that the gateway gave to items: no upstream knows them. */
const OWN_ID = /^[a-z]{1,8}_(?:[0-9a-f]{32}\d{4,6}|[0-9A-Za-z_-]{8,120}i\d{4,6})$/;

/**
 * The call with the client's own document: all but the model is as the client wrote it. The
 * upstream stores nothing: what it stored would belong to every key of its account. Sealed
 * reasoning of this deployment is opened, and that of others is left out.
 */
export function responsesCall(
  native: NativeDocument,
  { target }: ProviderRequest,
  { url, headers }: Place,
): EncodedCall {
  const { document, endpoint } = native;
  const changes: Record<string, JsonValue | undefined> = { model: target.model, store: false };
  // Other endpoints store nothing, and do not know the member.
  if (endpoint !== undefined) changes.store = undefined;
  // Notes for the gateway's rows. The operator says where they go on.
  if (target.forwardMetadata !== true) changes.metadata = undefined;
  const items = itemsFor(document.value.input, native.sealed ?? [], target.id);
  if (items !== undefined) changes.input = items;
  const include =
    native.isKept === true && endpoint === undefined
      ? included(document.value, target.model)
      : undefined;
  if (include !== undefined) changes.include = include;
  return {
    kind: "http",
    method: "POST",
    url: endpoint === undefined ? url : endpointUrl(url, endpoint),
    headers: { ...headers, ...native.headers },
    body: document.with(changes),
    isNative: true,
  };
}

/** The address of a further endpoint: the query of one of Azure stays at the end. */
function endpointUrl(url: string, endpoint: string): string {
  const [path = "", ...query] = url.split("?");
  return [`${path}/${endpoint}`, ...query].join("?");
}

/** `include` with the reasoning that the next request sends back; `undefined` for no change. */
function included(
  { include, reasoning }: JsonObject,
  model: string,
): readonly JsonValue[] | undefined {
  // Models that do not reason refuse it.
  if (reasoningTraits(model)?.reasons !== true && !isObject(reasoning)) return undefined;
  const asked = Array.isArray(include) ? (include as readonly JsonValue[]) : [];
  return asked.includes(ENVELOPES) ? undefined : [...asked, ENVELOPES];
}

/** The items as a deployment reads them; `undefined` where all stay. */
function itemsFor(
  input: JsonValue | undefined,
  sealed: readonly SealedItem[],
  deployment: string,
): readonly JsonValue[] | undefined {
  if (!Array.isArray(input)) return undefined;
  const byIndex = new Map(sealed.map((each) => [each.index, each]));
  let isChanged = false;
  let isBehindGap = false;
  const items: JsonValue[] = [];
  for (const [index, item] of (input as readonly JsonValue[]).entries()) {
    if (!isObject(item)) {
      items.push(item);
      continue;
    }
    const opened = openedItem(item, byIndex.get(index), deployment);
    if (opened === undefined) {
      isChanged = true;
      isBehindGap = true;
      continue;
    }
    if (!isOfModel(item)) isBehindGap = false;
    const shown = isBehindGap || isOwnId(opened.id) ? withoutId(opened) : opened;
    isChanged ||= shown !== item;
    items.push(shown);
  }
  return isChanged ? items : undefined;
}

/** The item for a deployment; `undefined` for reasoning that it cannot read. */
function openedItem(
  item: JsonObject,
  sealed: SealedItem | undefined,
  deployment: string,
): JsonObject | undefined {
  if (item.type === "reasoning")
    return sealed?.text !== undefined && sealed.deployment === deployment
      ? { ...item, encrypted_content: sealed.text }
      : undefined;
  return sealed?.text === undefined ? item : { ...item, encrypted_content: sealed.text };
}

/** Whether an item is a part of the model's answer: it belongs to the reasoning before it. */
function isOfModel({ type, role }: JsonObject): boolean {
  return role === "assistant" || type === "function_call" || type === "custom_tool_call";
}

function isOwnId(id: JsonValue | undefined): boolean {
  return typeof id === "string" && OWN_ID.test(id);
}

function withoutId({ id: _id, ...item }: JsonObject): JsonObject {
  return item as JsonObject;
}
