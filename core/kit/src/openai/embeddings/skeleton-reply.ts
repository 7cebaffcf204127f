/** Large replies of the reference dialect: their skeleton parsed, their bytes forwarded. */

import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { parseJson } from "../../json/parse.ts";
import { Skeleton } from "../../json/skeleton.ts";
import { readEmbeddedError } from "../errors.ts";

/** A reply with parsed members, except the cut values. */
export interface SkeletonReply {
  readonly skeleton: Skeleton;
  readonly value: JsonObject;
  /** The items of `data`. */
  readonly data: readonly JsonValue[];
}

/**
 * Reads a reply with an array `data`; the values of members called `key` are not parsed. Throws
 * `upstream_invalid_response`, or the error inside a 200.
 */
export function readSkeletonReply(body: Uint8Array, key: string): SkeletonReply {
  const skeleton = new Skeleton(body, key);
  let value: unknown;
  try {
    value = parseJson(skeleton.text);
  } catch (cause) {
    throw invalidReply("is not JSON", cause);
  }
  if (!isObject(value)) throw invalidReply("is not a JSON object");
  const { data, error } = value;
  if (Array.isArray(data)) return { skeleton, value, data: data as readonly JsonValue[] };
  if (isObject(error)) throw readEmbeddedError(error);
  throw invalidReply("has no data");
}

/** The error of an unusable reply. `fault` completes "The upstream's reply …". */
export function invalidReply(fault: string, cause?: unknown): GatewayError {
  return new GatewayError("upstream_invalid_response", `The upstream's reply ${fault}.`, { cause });
}
