/**
 * The size of V8's young generation. `bin/sluice.js` keeps it at its first size during the start.
 */

import { setFlagsFromString } from "node:v8";

/** Lets the young generation grow with the load, as V8 does by itself. */
export function growYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
}
