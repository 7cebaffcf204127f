/**
 * Reads the fields of a request other than chat: embeddings, images. Fields without a translation
 * are refused.
 */

import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { present } from "../members.ts";
import { type Refuse, refusalsOf } from "../refusal.ts";

/** Fields that the gateway itself honours, or that the address contains. */
const GENERAL = new Set(["model", "user", "metadata", "stream"]);

/** The fields of one request. */
export interface RequestFields {
  readonly body: JsonObject;
  readonly refuse: Refuse;
  /** A field's value; `undefined` where it is absent or null. */
  get(name: string): JsonValue | undefined;
  /** The present fields. An object maps each name to the upstream's name. */
  pick(names: readonly string[] | Readonly<Record<string, string>>): JsonObject;
}

/**
 * Reads the fields of a request. Throws `unsupported_parameter` for a field that asks for something
 * and is not in `known`.
 */
export function readFields(request: ProviderRequest, known: readonly string[]): RequestFields {
  const body = request.document.value;
  const refuse = refusalsOf(request);
  const get = (name: string): JsonValue | undefined => body[name] ?? undefined;
  const unknown = Object.keys(body).find(
    (name) => get(name) !== undefined && !GENERAL.has(name) && !known.includes(name),
  );
  if (unknown !== undefined) refuse(unknown, `the parameter ${unknown.slice(0, 64)}`);
  return {
    body,
    refuse,
    get,
    pick(names) {
      const pairs: readonly (readonly [string, string])[] = Array.isArray(names)
        ? (names as readonly string[]).map((name) => [name, name])
        : Object.entries(names as Readonly<Record<string, string>>);
      return present(Object.fromEntries(pairs.map(([from, to]) => [to, get(from)])));
    },
  };
}
