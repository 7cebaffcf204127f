/** Plays chunks through the writer of a face, as the gateway does. */

import type { Face, GatewayError, JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { must } from "../contract/fault.ts";
import { FACE_CONTEXT, FACE_MEANS, errorOf, type FaceCase } from "./cases.ts";
import { chunkOf } from "./chunks.ts";

/** One stream of a case: its chunks, and the failure at its end. */
export interface GivenStream {
  readonly chunks: readonly JsonObject[];
  readonly error: GatewayError | undefined;
}

/** Reads `given` of a stream: a list of chunks; a last item `{error}` is the stream's failure. */
export function streamOf({ given, title }: FaceCase): GivenStream {
  must(Array.isArray(given), `${title} must be a list of chunks.`);
  const list = given as readonly JsonValue[];
  const last = list.at(-1);
  if (!isObject(last) || last.error === undefined)
    return { chunks: list.map(chunkOf), error: undefined };
  return { chunks: list.slice(0, -1).map(chunkOf), error: errorOf(last.error) };
}

/** The text of a stream. */
export function written(face: Face, state: unknown, { chunks, error }: GivenStream): string {
  const writer = face.stream(state, FACE_CONTEXT);
  let text = "";
  for (const chunk of chunks) text += writer.chunk(chunk);
  return text + (error === undefined ? writer.end() : writer.failure(error));
}

/** The state of the request that a case answers. */
export function stateOf(face: Face, { asked, askedBy }: FaceCase, document: Document): unknown {
  return face.read(document(asked), askedBy, FACE_MEANS).state;
}

type Document = (value: JsonObject) => Parameters<Face["read"]>[0];

/** A value that throws when it is changed. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
