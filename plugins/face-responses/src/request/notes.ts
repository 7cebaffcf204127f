/** What a request says and the reference dialect cannot: left out without harm, or native only. */

import type { JsonValue, NativeOnly, SealedItem } from "@sluice/contract";

/** The path of items that came from a stored response. */
export const STORED_PATH = "previous_response_id";

/** The notes of one request. */
export class Notes {
  /** Paths of what is left out without harm. */
  readonly dropped: string[] = [];
  readonly nativeOnly: NativeOnly[] = [];
  /** Items without a form in the reference dialect, as the client sent them. */
  readonly items: JsonValue[] = [];

  /** Items with envelopes of the gateway, by their places in `input`. */
  readonly sealed: SealedItem[] = [];

  /** Notes what is left out without harm. Of a stored response the client reads the items there. */
  drop(...paths: readonly string[]): void {
    this.dropped.push(...paths.filter((path) => path !== STORED_PATH));
  }

  /**
   * Notes what only an upstream of this API can take. `what` completes "The provider cannot take".
   */
  native(path: string, what: string): void {
    this.nativeOnly.push({ path, what });
  }
}
