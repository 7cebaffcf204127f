/** What a request says and the reference dialect cannot: left out without harm, or native only. */

import type { JsonValue, NativeOnly } from "@sluice/contract";

/** The notes of one request. */
export class Notes {
  /** Paths of what is left out without harm. */
  readonly dropped: string[] = [];
  readonly nativeOnly: NativeOnly[] = [];
  /** Items without a form in the reference dialect, as the client sent them. */
  readonly items: JsonValue[] = [];

  /** Notes what is left out without harm. */
  drop(...paths: readonly string[]): void {
    this.dropped.push(...paths);
  }

  /**
   * Notes what only an upstream of this API can take. `what` completes "The provider cannot take".
   */
  native(path: string, what: string): void {
    this.nativeOnly.push({ path, what });
  }
}
