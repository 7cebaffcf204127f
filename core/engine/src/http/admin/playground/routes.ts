/** The playground: requests through the real routes and pipelines, as a key. */

import { GatewayError, type JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { CompiledRoute } from "../../../pipeline/compile.ts";
import type { Generation } from "../../../generation/generation.ts";
import type { Played } from "../../../resources/tenants/plays.ts";
import { WHOLE } from "../../access/may.ts";
import {
  type AdminRequest,
  type AdminRoutes,
  listed,
  type Located,
  named,
} from "../../access/route.ts";
import type { OwnListeners } from "../../extensions/inside.ts";
import { declaredId } from "../record-view.ts";
import { type FoundKey, findKey, noKey } from "../find-key.ts";
import { invalid } from "../fields.ts";
import { keyLocated, type PlaceParts } from "../locate.ts";
import { openPlay } from "./open-play.ts";

/** The parts of the routes. */
export interface PlaygroundParts extends PlaceParts {
  readonly live: () => Generation | undefined;
  readonly listeners: OwnListeners;
}

/** The word for the master key, whose requests have no limits. */
const MASTER = "master";

const OPERATIONS = ["chat", "embeddings", "images"] as const;
type PlayedOperation = (typeof OPERATIONS)[number];
const MAX_MODEL = 200;

/** Whom a request is sent as, and the object of its line in the audit. */
interface PlayedAs {
  readonly played: Played;
  readonly id: string;
  readonly located: Located<unknown>;
}

/**
 * `GET /playground` lists the routes; `POST /playground/{operation}` sends `body` to one of them as
 * the key `as`, with its limits and rights, and answers what the route answers.
 */
export function playgroundRoutes(parts: PlaygroundParts): AdminRoutes {
  const locate = (request: AdminRequest): Promise<Located<PlayedAs>> =>
    locatePlayed(request, parts);
  const play = (operation: PlayedOperation) =>
    named("key.play", locate, (request, played) => answer(operation, request, played, parts));
  return {
    "GET /playground": listed("key.play", async () => ({
      routes: playable(parts.live()).map(({ route, place }) => ({
        route: `${route.method} ${route.path}`,
        operation: route.operation,
        pipeline: route.pipeline,
        file: place,
        steps: route.outline.steps.map(({ name }) => name),
      })),
    })),
    "POST /playground/chat": play("chat"),
    "POST /playground/embeddings": play("embeddings"),
    "POST /playground/images": play("images"),
  };
}

async function locatePlayed(
  { body }: AdminRequest,
  parts: PlaygroundParts,
): Promise<Located<PlayedAs>> {
  const asked = String(body["as"]);
  if (asked === MASTER) {
    const located = { object: WHOLE, found: undefined, missing: () => noKey("as") };
    return { ...located, found: { played: { kind: "master" }, id: MASTER, located } };
  }
  const found: FoundKey = await findKey(parts, asked, "as");
  const located = await keyLocated(parts, found, () => noKey("as"));
  if ("record" in found) {
    const { record } = found;
    return { ...located, found: { played: { kind: "stored", record }, id: record.id, located } };
  }
  const keyId = declaredId(found.declared);
  return { ...located, found: { played: { kind: "declared", keyId }, id: keyId, located } };
}

async function answer(
  operation: PlayedOperation,
  request: AdminRequest,
  { played, id, located }: PlayedAs,
  { live, listeners, keyRing }: PlaygroundParts,
): Promise<unknown> {
  const { body, audit } = request;
  const sent = body["body"];
  if (!isObject(sent)) throw invalid("body", "The field body must be an object.");
  const route = routeOf(operation, body["route"], live());
  const after: JsonObject = {
    route: `${route.method} ${route.path}`,
    model: shortened(sent["model"]),
    stream: sent["stream"] === true,
  };
  const change = { kind: "key", id, place: located.object.places[0], after };
  return audit.attempt(request, change, () =>
    openPlay(
      { method: route.method, path: route.path, operation, body: sent, played },
      { listener: listeners.public, plays: keyRing.plays, signal: request.whenLeft() },
    ),
  );
}

interface Playable {
  readonly route: CompiledRoute;
  /** The file of its pipeline. */
  readonly place: string;
}

/** The routes without a face and without parameters: what they take and answer is known. */
function playable(generation: Generation | undefined): readonly Playable[] {
  if (generation === undefined) return [];
  const files = new Map(generation.snapshot.pipelines.map(({ name, at }) => [name, at.file]));
  const routes = [...generation.routes.entries()].map(({ value }) => value);
  return routes
    .filter(
      ({ method, path, operation, face }) =>
        method === "POST" &&
        face === undefined &&
        !path.includes("{") &&
        OPERATIONS.some((one) => one === operation),
    )
    .map((route) => ({ route, place: files.get(route.pipeline) ?? "" }));
}

function routeOf(
  operation: PlayedOperation,
  asked: unknown,
  generation: Generation | undefined,
): CompiledRoute {
  const routes = playable(generation)
    .map(({ route }) => route)
    .filter((route) => route.operation === operation);
  const found =
    asked === undefined
      ? routes[0]
      : routes.find(({ method, path }) => `${method} ${path}` === asked);
  if (found !== undefined) return found;
  if (asked === undefined)
    throw new GatewayError(
      "not_found",
      `No pipeline has a route for ${operation} without a face. GET /playground lists the routes.`,
    );
  const names = routes.map(({ method, path }) => `${method} ${path}`).join(", ");
  throw invalid("route", `The field route must be one of: ${names}.`);
}

/** The name of a model in a request, for the audit. */
function shortened(model: unknown): string {
  return typeof model === "string"
    ? model
        .slice(0, MAX_MODEL)
        .replaceAll(/\p{Cc}/gu, "\uFFFD")
        .toWellFormed()
    : "";
}
