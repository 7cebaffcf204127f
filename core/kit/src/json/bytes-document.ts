/** A JSON document known by its bytes: nobody has looked into them, and whoever does pays for it then. */

import type { JsonDocument, JsonObject } from "@sluice/spec";
import { documentOf } from "./document.ts";

/** The document of bytes that hold a JSON object in UTF-8. They are decoded and parsed on first use of `value` or `with`. */
export function bytesDocument(bytes: Uint8Array): JsonDocument {
  return new BytesDocument(bytes);
}

class BytesDocument implements JsonDocument {
  readonly bytes: Uint8Array;
  #parsed: JsonDocument | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get value(): JsonObject {
    return this.#document.value;
  }

  with(changes: JsonObject): JsonDocument {
    const changed = this.#document.with(changes);
    return changed === this.#parsed ? this : changed;
  }

  get #document(): JsonDocument {
    const { buffer, byteOffset, byteLength } = this.bytes;
    this.#parsed ??= documentOf(Buffer.from(buffer, byteOffset, byteLength).toString("utf8"), this.bytes);
    return this.#parsed;
  }
}
