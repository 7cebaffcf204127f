/** JSON types of the contract. */

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Members may be absent. */
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}

/**
 * A JSON object together with its source text. The text is kept until a member changes. After that,
 * every byte outside the changed members stays as it was written: a 64-bit integer keeps its
 * digits, and a large array is never serialised again.
 */
export interface JsonDocument {
  /** The parsed object. Parsed at most once. */
  readonly value: JsonObject;
  /** The document for the wire: the original bytes while nothing has changed. */
  readonly bytes: Uint8Array | string;
  /** `bytes` in pieces, for a large document made of parts. A writer copies nothing. */
  readonly pieces?: readonly Uint8Array[];
  /**
   * A document with top-level members set, or removed where the change is `undefined`. Returns the
   * same document when nothing changes.
   */
  with(changes: JsonObject): JsonDocument;
}

/** A JSON Schema (draft 2020-12), as plain data. */
export type JsonSchema = JsonObject;
