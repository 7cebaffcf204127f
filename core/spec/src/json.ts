/** JSON as the specification's types see it. */

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Members may be absent. */
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}

/**
 * A JSON object together with the text it was read from. The text is kept until somebody changes a member,
 * and even then every byte outside the changed members stays as it was written: a 64-bit integer keeps its
 * digits, a large array is never serialised again.
 */
export interface JsonDocument {
  /** The parsed object. Parsed at most once. */
  readonly value: JsonObject;
  /** The document as it goes over the wire: the bytes that came in while nothing was changed. */
  readonly bytes: Uint8Array | string;
  /** `bytes` in pieces, for a large document that was put together of parts: whoever only writes it copies nothing. */
  readonly pieces?: readonly Uint8Array[];
  /**
   * A document with top-level members set, or removed where the change is `undefined`. Returns the same document
   * when nothing would change.
   */
  with(changes: JsonObject): JsonDocument;
}

/** A JSON Schema (draft 2020-12), as plain data. */
export type JsonSchema = JsonObject;
