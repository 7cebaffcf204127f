/**
 * The digest of a provider's callee: equal for the same plugin, options, credentials and deadlines.
 */

import { createHmac, randomBytes } from "node:crypto";
import { Secret } from "@sluice/contract";
import type { ProviderSettings } from "../config/snapshot.ts";

/**
 * Digests are compared within this process alone. With a key that is never stored, no digest tells
 * anything of a credential.
 */
const KEY = randomBytes(32);

/**
 * The digest of a provider's settings. A changed address, credential or deadline gives another one;
 * a changed name does not.
 */
export function calleeOf(
  plugin: string,
  {
    options,
    timeouts,
    connections,
    callHeaders,
  }: Pick<ProviderSettings, "options" | "timeouts" | "connections" | "callHeaders">,
): string {
  return digest(
    JSON.stringify([plugin, options, timeouts, connections, callHeaders], replaceSecret),
  );
}

/**
 * A secret writes itself by its name alone. Here its value counts, as a digest: a new value under
 * the old name is another credential.
 */
function replaceSecret(this: unknown, name: string, written: unknown): unknown {
  const value = (this as Readonly<Record<string, unknown>>)[name];
  return value instanceof Secret ? digest(value.reveal()) : written;
}

function digest(text: string): string {
  return createHmac("sha256", KEY).update(text).digest("base64url");
}
