/** What a package hands to the contract suite of faces. */

import type { JsonObject } from "@sluice/contract";
import type { WireEvent } from "./wire.ts";

/** What the suite needs of a test runner: vitest and `node:test` have it. */
export interface FaceRunner {
  describe(title: string, define: () => void): unknown;
  it(title: string, run: () => void | Promise<void>): unknown;
}

/**
 * Makes the whole reply of a stream, as a client does: best with the accumulator of the SDK. It
 * throws for a stream that the client refuses. `text` is the wire text of `events`.
 */
export type Fold = (events: readonly WireEvent[], text: string) => JsonObject | Promise<JsonObject>;

/** What a package says of its face to the suite. */
export interface FaceContractOptions {
  /** The folder of the tables `*.cases.json`: `new URL("../fixtures/", import.meta.url)`. */
  readonly fixtures: URL;
  /** A simple request in the client's form, for cases of a table without a case `request`. */
  readonly request: JsonObject;
  readonly fold: Fold;
  /**
   * Reads the events of a text where the client's dialect is not plain server-sent events. Throws
   * for a text that its clients refuse. Absent: `readWireEvents`.
   */
  readEvents?(text: string): readonly WireEvent[];
  /** Options of the face; defaults are filled in. */
  readonly config?: JsonObject;
  /**
   * The whole reply without what a stream cannot say: what the folded stream is compared with.
   * Absent: all of it.
   */
  comparable?(reply: JsonObject): JsonObject;
  /** How many odd documents `read` gets. Default: 300. */
  readonly oddDocuments?: number;
}
