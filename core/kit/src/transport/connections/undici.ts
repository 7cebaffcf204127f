/**
 * undici, loaded when the first connection is made: a command that calls no upstream needs none.
 */

import { createRequire } from "node:module";

type Undici = typeof import("undici");

let loaded: Undici | undefined;

/** The package. Loads it synchronously, as a connection is made. */
export function undici(): Undici {
  loaded ??= createRequire(import.meta.url)("undici") as Undici;
  return loaded;
}
