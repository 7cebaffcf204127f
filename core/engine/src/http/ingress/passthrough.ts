/** Native requests: the unchanged bytes, and the parts that limits, rows and guardrails read. */

import { isUtf8 } from "node:buffer";
import {
  type ClientRequest,
  GatewayError,
  type GatewayRequest,
  isGatewayError,
  type JsonObject,
} from "@sluice/contract";
import { isObject, Stages, parseJson } from "@sluice/kit";
import {
  parseInSlices,
  readMembers,
  type ShapeFault,
  type ShapeLimits,
  type Sliced,
  writtenDocument,
} from "@sluice/kit/internals";
import type { ExtendedRequest } from "./extended.ts";
import { refuseOtherReadings, refuseRepeatedMembers } from "./refused-members.ts";
import { type NativePart, takeNativeFields } from "./gateway-fields/gateway-fields.ts";
import {
  LIMITS,
  MAX_MEMBERS,
  MAX_NAMES,
  runTooLong,
  tooManyMembers,
  tooManyNames,
} from "./bytes/json.ts";
import { LARGE_BYTES } from "./bytes/stages.ts";

/** A body of another content type is checked for JSON up to this size. A larger one is a file. */
const MAX_LOOK_BYTES = 8 * 1024 * 1024;

/** As other routes have it: many inputs may come as tokens. */
const MAX_EMBEDDING_NODES = 2_000_000;

/**
 * Methods whose body, if there is one, means nothing (RFC 9110 9.3.1, 9.3.5): it is not read and
 * not sent on.
 */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE"]);

const NO_BYTES = Buffer.alloc(0);
const NO_MEMBERS: JsonObject = Object.freeze({});
const OPEN_BRACE = 0x7b;
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Whether the requests of a method have a body. */
export function hasNativeBody({ method }: ClientRequest): boolean {
  return !BODILESS.has(method);
}

/** The request of a method without a body. */
export function withoutNativeBody(
  client: ClientRequest,
  extended?: ExtendedRequest,
): GatewayRequest {
  return receiveNative(NO_BYTES, undefined, client, extended);
}

/**
 * The request of a native body. A JSON object is read by the rules of the other routes, whatever
 * its content type says: the upstream may read it all the same. Throws `invalid_json` beyond their
 * bounds and `invalid_field` for a repeated member, or one whose name parsers read differently. A
 * body other than JSON names no model, and its meaning is the upstream's: the step `passthrough`
 * refuses it where an endpoint takes JSON.
 */
export function receiveNative(
  bytes: Buffer,
  contentType: string | undefined,
  client: ClientRequest,
  extended?: ExtendedRequest,
): GatewayRequest {
  return Stages.atOnce(nativeStages(bytes, contentType, client, extended));
}

/** The same in stages. */
export function* nativeStages(
  bytes: Buffer,
  contentType: string | undefined,
  client: ClientRequest,
  extended?: ExtendedRequest,
): Stages.Of<GatewayRequest> {
  const value = yield* read(bytes, contentType?.toLowerCase() ?? "", client);
  yield;
  refuseOtherReadings(value);
  const { cut, ...fields } = fieldsOf(value, client, extended);
  return {
    document: writtenDocument(value),
    ...(bytes.length > 0 ? { raw: bytes } : {}),
    ...(cut.length > 0 ? { cut } : {}),
    ...fields,
    model: typeof value.model === "string" ? value.model : "",
    stream: value.stream === true,
    includeUsage: true,
  };
}

function* read(bytes: Buffer, contentType: string, { path }: ClientRequest): Stages.Of<JsonObject> {
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/.test(contentType.trim());
  // A form is no JSON object: its delimiters stand outside of any text.
  if (!isJson && bytes.length > MAX_LOOK_BYTES) return NO_MEMBERS;
  // Decoders read other bytes differently. Such a body is not read, and every guardrail refuses it.
  if (!beginsObject(bytes) || !isUtf8(bytes)) return NO_MEMBERS;
  const text = withoutMark(bytes.toString("utf8"));
  const maxNodes = /embed/i.test(path) ? MAX_EMBEDDING_NODES : LIMITS.maxNodes;
  yield;
  const limits = { ...LIMITS, maxNodes };
  const { value, members, nodes, fault } =
    bytes.length > LARGE_BYTES ? yield* sliced(text, limits) : parsed(text, limits);
  if (fault !== undefined) {
    if (isJson) throw tooMuch(fault, maxNodes);
    return NO_MEMBERS;
  }
  if (!isObject(value)) return NO_MEMBERS;
  if (members.length > MAX_MEMBERS) {
    if (isJson) throw tooManyMembers();
    return NO_MEMBERS;
  }
  refuseRepeatedMembers(text, value, { members, nodes });
  return value;
}

/**
 * Whether the first byte that is no white space opens an object; a byte order mark may stand before
 * it.
 */
function beginsObject(bytes: Buffer): boolean {
  let at = bytes.length > 2 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length && WHITE_SPACE.has(bytes[at] ?? 0)) at++;
  return bytes[at] === OPEN_BRACE;
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** The value of a text; none for text that is not JSON. */
function parsed(text: string, limits: ShapeLimits): Sliced {
  // Depth and size are checked before any code recurses into the text.
  const shape = readMembers(text, limits);
  return { value: shape.fault === undefined ? parse(text) : undefined, ...shape };
}

function* sliced(text: string, limits: ShapeLimits): Stages.Of<Sliced> {
  try {
    return yield* parseInSlices(text, { ...limits, maxMembers: MAX_MEMBERS, maxNames: MAX_NAMES });
  } catch {
    return { value: undefined, members: [], nodes: 0, fault: undefined };
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function tooMuch(fault: ShapeFault, maxNodes: number): GatewayError {
  if (fault === "members") return tooManyMembers();
  if (fault === "names") return tooManyNames();
  if (fault === "run") return runTooLong();
  const what =
    fault === "depth"
      ? `is nested deeper than ${LIMITS.maxDepth} levels`
      : `has more than ${maxNodes} values`;
  return new GatewayError("invalid_json", `The body ${what}.`);
}

/**
 * The gateway's own fields. A member that only shares its name with one, as its value shows, is the
 * upstream's; the others stay the gateway's.
 */
function fieldsOf(
  value: JsonObject,
  client: ClientRequest,
  extended: ExtendedRequest | undefined,
): NativePart {
  const read = extended?.readNative(value);
  try {
    return takeNativeFields(value, client, [], read);
  } catch (error) {
    if (!isGatewayError(error) || error.param?.startsWith("x-sluice-") === true) throw error;
    const ofUpstream = Object.keys(value).filter((name) => !isOfGateway(name, value, client));
    return takeNativeFields(value, client, ofUpstream);
  }
}

/** Whether a member has a value that the gateway could honour. */
function isOfGateway(name: string, value: JsonObject, client: ClientRequest): boolean {
  try {
    return takeNativeFields({ [name]: value[name] }, client).cut.length > 0;
  } catch {
    return false;
  }
}
