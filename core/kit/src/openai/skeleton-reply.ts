/** Large replies of the reference dialect: their skeleton parsed, their bytes forwarded. */

import { GatewayError, type JsonObject, type JsonValue } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { Skeleton } from "../json/skeleton.ts";
import { readEmbeddedError } from "./errors.ts";

/** A reply whose members are known, but for the values that were cut out. */
export interface SkeletonReply {
  readonly skeleton: Skeleton;
  readonly value: JsonObject;
  /** The items of `data`. */
  readonly data: readonly JsonValue[];
}

/**
 * Reads a reply that holds an array `data`; the values of members called `key` are not looked at. Throws
 * `upstream_invalid_response`, or the error that a 200 carries inside.
 */
export function readSkeletonReply(body: Uint8Array, key: string): SkeletonReply {
  const skeleton = new Skeleton(body, key);
  let value: unknown;
  try {
    value = JSON.parse(skeleton.text);
  } catch (cause) {
    throw invalidReply("is not JSON", cause);
  }
  if (!isObject(value)) throw invalidReply("is no JSON object");
  const { data, error } = value;
  if (Array.isArray(data)) return { skeleton, value, data: data as readonly JsonValue[] };
  if (isObject(error)) throw readEmbeddedError(error);
  throw invalidReply("has no data");
}

/** The error of a reply that cannot be used. `fault` completes "The upstream's reply …". */
export function invalidReply(fault: string, cause?: unknown): GatewayError {
  return new GatewayError("upstream_invalid_response", `The upstream's reply ${fault}.`, { cause });
}
