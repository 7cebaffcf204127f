/** A JSON document that holds bytes: they are decoded and parsed on first use. */

import type { JsonDocument, JsonObject } from "@sluice/contract";
import { documentOf } from "./document.ts";

/**
 * The document of bytes that hold a JSON object in UTF-8. They are decoded and parsed on first use
 * of `value` or `with`.
 */
export function bytesDocument(bytes: Uint8Array): JsonDocument {
  return new BytesDocument([bytes]);
}

/**
 * The same for bytes in pieces. They are joined on the first use of `bytes`, and not when they are
 * only written.
 */
export function piecesDocument(pieces: readonly Uint8Array[]): JsonDocument {
  return new BytesDocument(pieces);
}

class BytesDocument implements JsonDocument {
  readonly pieces: readonly Uint8Array[];
  #bytes: Uint8Array | undefined;
  #parsed: JsonDocument | undefined;

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces;
  }

  get bytes(): Uint8Array {
    const [first] = this.pieces;
    this.#bytes ??=
      this.pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.pieces);
    return this.#bytes;
  }

  get value(): JsonObject {
    return this.#document.value;
  }

  with(changes: JsonObject): JsonDocument {
    const changed = this.#document.with(changes);
    return changed === this.#parsed ? this : changed;
  }

  get #document(): JsonDocument {
    const { bytes } = this;
    this.#parsed ??= documentOf(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"),
      bytes,
    );
    return this.#parsed;
  }
}
