import type { ResolveHookSync } from "node:module";

/** Where `npm run build` writes what it joined, relative to the checkout. */
export const INDEX_FILE: string;

/** Size and time of change of a file, as one text. */
export function stampOf(path: string): string;

/**
 * A hook for `registerHooks` that resolves imports of the packages in the checkout `root` to their
 * joined files. `undefined` without such files, and when a source, or an installed package, has
 * changed since.
 */
export function bundleHook(root: string): ResolveHookSync | undefined;
