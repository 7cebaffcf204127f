/** A Messages request as a chat request of the reference dialect. */

import { createHash } from "node:crypto";
import type {
  ClientRequest,
  FaceRequest,
  JsonDocument,
  JsonObject,
  JsonValue,
} from "@sluice/contract";
import { isObject, Stages } from "@sluice/kit";
import { invalidField, Members, ToolNames } from "@sluice/kit/dialect";
import { array, boolean, isSet, name, NoteBook, number, object, string } from "./fields.ts";
import { readMessages } from "./messages.ts";
import { readThinking } from "./thinking.ts";
import { refuseThread } from "./thread.ts";
import { readTools } from "./tools.ts";

/** Members that this module and its neighbours read. */
const KNOWN = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "metadata",
  "stop_sequences",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "output_format",
  "service_tier",
  "cache_control",
  "thread",
]);
/**
 * Members that another provider can leave out: they manage the context, the speed, the diagnosis of
 * caches, the version. A client that sends them to every model expects a reply.
 */
const HINTS = [
  "context_management",
  "speed",
  "diagnostics",
  "user_profile_id",
  "safeguards",
  "anthropic_version",
  "anthropic_beta",
  "betas",
];
/** OpenAI's bound of `user`. */
const MAX_USER = 64;

/** What the reply is made with. */
export interface State {
  readonly names?: ToolNames.ClientNames;
}

/** Reads a request of `POST /v1/messages` or of `…/count_tokens`. */
export function readRequest(
  document: JsonDocument,
  client: Pick<ClientRequest, "path">,
): FaceRequest<State> {
  return Stages.atOnce(requestStages(document, client));
}

/** The same in stages: a conversation may be long. */
export function* requestStages(
  document: JsonDocument,
  { path }: Pick<ClientRequest, "path">,
): Stages.Of<FaceRequest<State>> {
  const { value } = document;
  refuseThread(value);
  const notes = new NoteBook(document);
  const isCount = path.endsWith("/count_tokens");
  const limit = maxTokens(value, isCount);
  const made = Members.present({
    model: name(value.model, "model"),
    ...(limit === undefined ? {} : { max_completion_tokens: limit }),
    messages: yield* readMessages(value, notes),
    ...readTools(value, notes),
    ...readThinking(value, limit, notes),
    ...outputFormat(value, notes),
    temperature: number(value.temperature, "temperature"),
    top_p: number(value.top_p, "top_p"),
    top_k: number(value.top_k, "top_k"),
    stop: stops(value.stop_sequences),
    service_tier: serviceTier(value.service_tier),
    ...metadata(value.metadata, notes),
    ...others(value, notes),
    ...streaming(value),
  });
  const { body, names } = ToolNames.mapBodyNames(made);
  return { body, state: names === undefined ? {} : { names }, ...notes.members };
}

function maxTokens({ max_tokens: limit }: JsonObject, isCount: boolean): number | undefined {
  if (isCount && !isSet(limit)) return undefined;
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1)
    throw invalidField("max_tokens", "a whole number of at least 1");
  return limit;
}

function streaming({ stream }: JsonObject): JsonObject {
  // The last event of a stream carries the usage.
  return boolean(stream, "stream") === true
    ? { stream: true, stream_options: { include_usage: true } }
    : {};
}

function stops(value: JsonValue | undefined): readonly string[] | undefined {
  if (!isSet(value)) return undefined;
  const list = array(value, "stop_sequences").map((each, index) =>
    string(each, `stop_sequences[${index}]`),
  );
  return list.length === 0 ? undefined : list;
}

function serviceTier(value: JsonValue | undefined): string | undefined {
  if (!isSet(value)) return undefined;
  const tier = string(value, "service_tier");
  return tier === "standard_only" ? "default" : tier;
}

/** `user_id` becomes `user`; other members stay with the gateway, as those of a chat request. */
function metadata(value: JsonValue | undefined, notes: NoteBook): JsonObject {
  if (!isSet(value)) return {};
  const { user_id: user, ...more } = object(value, "metadata");
  const rest = Object.keys(more).length === 0 ? {} : { metadata: more };
  if (!isSet(user)) return rest;
  const id = string(user, "metadata.user_id");
  if (id === "") return rest;
  if (id.length <= MAX_USER) return { user: id, ...rest };
  // Claude Code puts a JSON text of three ids there. The same text stays the same user.
  notes.drop("metadata.user_id");
  return { user: `user_${createHash("sha256").update(id).digest("hex").slice(0, 48)}`, ...rest };
}

/** `output_config.format`, or `output_format` of the beta. */
function outputFormat(value: JsonObject, notes: NoteBook): JsonObject {
  const config = isSet(value.output_config) ? object(value.output_config, "output_config") : {};
  const { format, effort: _, ...more } = config;
  const path = isSet(format) ? "output_config.format" : "output_format";
  const wanted = isSet(format) ? format : value.output_format;
  const unknown = Object.keys(more).filter((each) => isSet(more[each]));
  for (const each of unknown)
    notes.native(`output_config.${each}`, `the member ${each} of output_config`);
  const rest = unknown.length === 0 ? {} : { output_config: more };
  if (!isSet(wanted)) return rest;
  const { type, schema } = object(wanted, path);
  if (type !== "json_schema") throw invalidField(`${path}.type`, "json_schema");
  if (!isObject(schema)) throw invalidField(`${path}.schema`, "a JSON schema");
  return {
    response_format: { type: "json_schema", json_schema: { name: "response", schema } },
    ...rest,
  };
}

/**
 * Members without a form of their own: hints are left out, the others need the client's dialect.
 */
function others(value: JsonObject, notes: NoteBook): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [each, member] of Object.entries(value)) {
    if (!isSet(member) || KNOWN.has(each)) continue;
    if (HINTS.includes(each)) {
      notes.drop(each);
      continue;
    }
    if (Array.isArray(member) && member.length === 0) continue;
    notes.native(each, `the parameter ${each.slice(0, 64)}`);
    kept[each] = member;
  }
  return kept;
}
