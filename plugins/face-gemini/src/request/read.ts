/** Requests of the API as chat requests. */

import type { ClientRequest, FaceRequest, JsonDocument, JsonObject } from "@sluice/contract";
import { Stages } from "@sluice/kit";
import { invalidField, ToolNames } from "@sluice/kit/dialect";
import { type Action, readAction } from "./action.ts";
import { generationOf } from "./config.ts";
import { messagesOf, systemMessage } from "./contents.ts";
import { Fields, Notes } from "./fields.ts";
import { toolMembers } from "./tools.ts";

/** What writing the reply needs of the request. */
export interface State {
  readonly action: Action;
  /** Whether the reply shows thoughts. */
  readonly includesThoughts: boolean;
  readonly names?: ToolNames.ClientNames;
}

/** The classes of service, by the names of the API. */
const TIERS: Readonly<Record<string, string>> = {
  standard: "default",
  flex: "flex",
  priority: "priority",
};

/**
 * Members without effect on the answer of another model: filters of Google's own, and labels of its
 * bills.
 */
const DROPPED = ["safetySettings", "labels"] as const;

/** Reads a request. Throws `invalid_field` and `route_not_found`. */
export function readRequest(document: JsonDocument, client: ClientRequest): FaceRequest<State> {
  return Stages.atOnce(requestStages(document, client));
}

/** The same in stages: `contents` may be long. */
export function* requestStages(
  document: JsonDocument,
  client: ClientRequest,
): Stages.Of<FaceRequest<State>> {
  const { model, action } = readAction(client);
  const notes = new Notes(document);
  const whole = new Fields(document.value, "", notes);
  // Counting takes the contents alone, or a whole request under a name of its own.
  const inner = action === "countTokens" ? whole.object("generateContentRequest") : undefined;
  if (inner !== undefined) whole.end();
  const { made, includesThoughts } = yield* bodyOf(inner ?? whole, model);
  const { body, names } = ToolNames.mapBodyNames(made);
  const stream =
    action === "streamGenerateContent"
      ? { stream: true, stream_options: { include_usage: true } }
      : {};
  return {
    body: { model, ...body, ...stream, ...untranslated(notes) },
    state: { action, includesThoughts, ...(names === undefined ? {} : { names }) },
    ...(notes.dropped.size === 0 ? {} : { dropped: [...notes.dropped] }),
    ...(notes.only.length === 0 ? {} : { nativeOnly: notes.only }),
  };
}

/** No translator knows this member, so that each refuses what it would lose. */
function untranslated({ untranslated: paths }: Notes): JsonObject {
  return paths.length === 0 ? {} : { google_only: paths };
}

/** The conversation of a request whose parts only Google has. */
const NOTHING_SAID: JsonObject = { role: "user", content: "" };

function* bodyOf(
  request: Fields,
  model: string,
): Stages.Of<{
  readonly made: JsonObject;
  readonly includesThoughts: boolean;
}> {
  const { notes } = request;
  // The path names the model; a body may repeat it.
  const named = request.text("model")?.replace(/^models\//, "") ?? model;
  if (named !== model)
    throw invalidField(pathIn(request, "model"), "the model of the path, or absent");
  for (const name of DROPPED) notes.drop(request.get(name));
  const system = request.get("systemInstruction");
  const first = system === undefined ? undefined : systemMessage(system, notes);
  const contents = request.list("contents");
  if (contents === undefined) throw invalidField(pathIn(request, "contents"), "an array");
  const said = yield* messagesOf(contents, notes);
  // Parts that Google's own API alone has may be all that there is.
  const messages = said.length === 0 && notes.only.length > 0 ? [NOTHING_SAID] : said;
  if (messages.length === 0)
    throw invalidField(pathIn(request, "contents"), "a conversation with a part that is not empty");
  const tools = toolMembers(request);
  const { body, includesThoughts } = generationOf(request.object("generationConfig"));
  const cached = request.text("cachedContent");
  notes.keepNative(request.get("cachedContent"), "a cached content");
  const made = {
    messages: first === undefined ? messages : [first, ...messages],
    ...tools,
    ...body,
    ...(cached === undefined ? {} : { cached_content: cached }),
    ...serviceTier(request),
  };
  request.end();
  return { made, includesThoughts };
}

function pathIn({ path }: Fields, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function serviceTier(request: Fields): JsonObject {
  const given = request.text("serviceTier");
  if (given === undefined) return {};
  const name = given.toLowerCase();
  if (name === "unspecified") return {};
  const tier = Object.hasOwn(TIERS, name) ? TIERS[name] : undefined;
  if (tier === undefined)
    throw invalidField(pathIn(request, "serviceTier"), "standard, flex or priority");
  return { service_tier: tier };
}
