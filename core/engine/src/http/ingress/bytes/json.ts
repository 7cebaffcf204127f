/** Bytes to a JSON document: encoding, shape and syntax, each checked before the next. */

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { GatewayError, type JsonDocument, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject, type Stages, parseJson } from "@sluice/kit";
import {
  decodePages,
  markLength,
  type PagedText,
  parsedDocument,
  parseInSlices,
  readMembers,
  type ShapeFault,
  type Sliced,
} from "@sluice/kit/internals";
import { type Coding, codingOf } from "./body.ts";
import { refuseDangerousMembers, refuseRepeatedMembers, type Shape } from "../refused-members.ts";

/** Bounds on the shape of a body, checked before it is parsed. */
export const LIMITS = { maxDepth: 64, maxNodes: 200_000 };
/**
 * Maximum of lists and objects of a large chat request: a translation handles each message, block,
 * call and tool, all in one turn of the event loop. A body that is not large has no room for many.
 */
export const MAX_CONTAINERS = 25_000;

/**
 * Maximum of members of one object of a large body. Making, copying and writing an object of
 * 190,000 took up to 213 ms of one turn.
 */
export const MAX_NAMES = 20_000;

/** Throws `invalid_json` for a value with more lists and objects than that. */
export function checkContainers(value: JsonValue): void {
  const open: JsonValue[] = [value];
  for (let count = 1; open.length > 0;) {
    for (const member of Object.values(open.pop() ?? {})) {
      if (typeof member !== "object" || member === null) continue;
      if (++count > MAX_CONTAINERS) throw tooManyContainers();
      open.push(member as JsonValue);
    }
  }
}
/** Maximum of members of the outermost object, which one turn of the event loop handles. */
export const MAX_MEMBERS = 1_000;

/** The coding of a body. Throws `unsupported_media_type` for one that the gateway does not read. */
export function knownCoding(request: IncomingMessage): Coding | undefined {
  const coding = codingOf(request);
  if (coding !== "unknown") return coding;
  throw new GatewayError(
    "unsupported_media_type",
    "The body's content-encoding is not accepted; send gzip, deflate or no content-encoding.",
  );
}

/** Refuses what is not JSON by its headers. Throws `unsupported_media_type`. */
export function checkMediaType(request: IncomingMessage): void {
  knownCoding(request);
  const type = request.headers["content-type"];
  if (type === "application/json") return;
  const [essence = "", ...parameters] = (type ?? "").toLowerCase().split(";");
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith("charset="));
  if (
    !/^application\/(?:[\w.+-]+\+)?json$/.test(essence.trim()) ||
    (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset))
  ) {
    throw new GatewayError(
      "unsupported_media_type",
      "The body must be JSON; send content-type: application/json.",
    );
  }
}

/**
 * The document of a body with `maxNodes` values at most. Throws `invalid_json`, or `invalid_field`
 * for a repeated member.
 */
export function readJson(bytes: Buffer, maxNodes = LIMITS.maxNodes): JsonDocument {
  const raw = decode(bytes);
  const text = withoutMark(raw);
  const shape = shapeOf(text, maxNodes);
  return documentOf(text, raw === text ? bytes : undefined, parse(text), shape);
}

/** The same in stages, with `maxContainers` lists and objects at most. */
export function* jsonStages(
  bytes: Buffer,
  maxNodes = LIMITS.maxNodes,
  maxContainers?: number,
): Stages.Of<JsonDocument> {
  const text = yield* decodePages(bytes);
  if (text === undefined) throw notUtf8();
  const { value, ...shape } = yield* sliced(text, maxNodes, maxContainers);
  yield;
  return documentOf(text, markLength(bytes) > 0 ? undefined : bytes, value, shape);
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw notUtf8();
  return bytes.toString("utf8");
}

function notUtf8(): GatewayError {
  return new GatewayError("invalid_json", "The body is not valid UTF-8.");
}

/** The text without a byte order mark; the same string where there is none. */
function withoutMark(raw: string): string {
  return raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw;
}

/** The shape of a text, with checked depth and size, so that recursion is bounded. */
function shapeOf(text: string, maxNodes: number): Shape {
  const shape = readMembers(text, maxNodes === LIMITS.maxNodes ? LIMITS : { ...LIMITS, maxNodes });
  refuseShape(shape.fault, maxNodes);
  return shape;
}

function parse(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw invalidJson(text, error);
  }
  if (!isObject(value)) throw notAnObject();
  return value;
}

/** The document of a body whose members are allowed and clear. */
function documentOf(
  text: string | PagedText,
  bytes: Buffer | undefined,
  value: JsonObject,
  shape: Shape,
): JsonDocument {
  const { members } = shape;
  if (members.length > MAX_MEMBERS) throw tooManyMembers();
  refuseDangerousMembers(text, value);
  refuseRepeatedMembers(text, value, shape);
  return parsedDocument(text, value, bytes, members);
}

/** What a large text holds. */
function* sliced(
  text: PagedText,
  maxNodes: number,
  maxContainers = Infinity,
): Stages.Of<Shape & { readonly value: JsonObject }> {
  // A large text or number in place of an object is refused without parsing.
  const [first = ""] = /[^ \t\r\n]/.exec(text.pageOf(0)) ?? [];
  if (first !== "" && first !== "{") throw notAnObject();
  let found: Sliced;
  try {
    found = yield* parseInSlices(text, {
      ...LIMITS,
      maxNodes,
      maxMembers: MAX_MEMBERS,
      maxContainers,
      maxNames: MAX_NAMES,
    });
  } catch {
    // Where a piece is wrong its parser counts from the piece's beginning.
    throw invalidJson(text.pages.every((page) => page.trim() === "") ? "" : "{");
  }
  const { value, members, nodes, fault } = found;
  refuseShape(fault, maxNodes);
  if (!isObject(value)) throw notAnObject();
  return { value, members, nodes };
}

/** The refusal of an object that is too wide. */
export function tooManyMembers(): GatewayError {
  return new GatewayError(
    "invalid_json",
    `The body has more than ${MAX_MEMBERS} members at its top level.`,
  );
}

/** The refusal of a large body with an object that has too many members. */
export function tooManyNames(): GatewayError {
  return new GatewayError(
    "invalid_json",
    `The body has an object with more than ${MAX_NAMES} members.`,
  );
}

function tooManyContainers(): GatewayError {
  return new GatewayError(
    "invalid_json",
    `The body has more than ${MAX_CONTAINERS} lists and objects. Send fewer messages, content blocks or tools.`,
  );
}

function notAnObject(): GatewayError {
  return new GatewayError("invalid_json", "The body must be a JSON object.");
}

/** The refusal of a body with too much white space or too many digits in one place. */
export function runTooLong(): GatewayError {
  return new GatewayError(
    "invalid_json",
    "The body has more than 1 MiB of white space, or of one number, in one place.",
  );
}

function refuseShape(fault: ShapeFault | undefined, maxNodes: number): void {
  if (fault === "depth")
    throw new GatewayError(
      "invalid_json",
      `The body is nested deeper than ${LIMITS.maxDepth} levels.`,
    );
  if (fault === "members") throw tooManyMembers();
  if (fault === "names") throw tooManyNames();
  if (fault === "run") throw runTooLong();
  if (fault === "containers") throw tooManyContainers();
  if (fault === "nodes")
    throw new GatewayError("invalid_json", `The body has more than ${maxNodes} values.`);
}

function invalidJson(text: string, error?: unknown): GatewayError {
  const said =
    text.trim() === ""
      ? "The body is empty; send a JSON object."
      : `The body is not valid JSON${placeOf(error)}.`;
  return new GatewayError("invalid_json", said);
}

/**
 * Where the parser stopped. Only the number is taken from its message: the rest may quote the body.
 */
function placeOf(error: unknown): string {
  const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : "") ?? [];
  return position === undefined ? "" : `, at character ${Number(position) + 1}`;
}
