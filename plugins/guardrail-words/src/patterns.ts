/** The engine of patterns, loaded with the first one: most lists have words alone. */

import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

let engine: typeof RE2JS | undefined;

/** Compiles a pattern whose letters match in both cases. Throws for one that cannot be read. */
export function compilePattern(pattern: string): RE2JS {
  engine ??= (createRequire(import.meta.url)("re2js") as typeof import("re2js")).RE2JS;
  return engine.compile(pattern, engine.CASE_INSENSITIVE);
}
