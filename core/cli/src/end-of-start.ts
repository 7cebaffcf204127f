/**
 * What ends with the start of a gateway: `bin/sluice.js` sets flags of V8 for a process that loads
 * much code and runs it once.
 */

import { flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

/** V8's own values of what `bin/sluice.js` sets, but for the growth of the young generation. */
const DEFAULTS = [
  // V8 grows it when more has survived than it holds. Requests leave next to nothing: with V8's
  // factor of 2 a loaded gateway has half of the size for a minute, and twice as many collections.
  "--semi-space-growth-factor=8",
  "--parallel-scavenge",
  "--invocation-count-for-maglev=400",
  "--invocation-count-for-maglev-osr=100",
  "--invocation-count-for-turbofan=3000",
  "--invocation-count-for-osr=500",
];

/** Gives V8 flags under which it compiles hot code sooner and grows with the load. */
export function endStart(): void {
  // Code that was compiled under other flags is not taken from the cache: what this start compiled
  // is written under its own. Most of it was written before the listeners opened.
  flushCompileCache();
  for (const flag of DEFAULTS) setFlagsFromString(flag);
}
