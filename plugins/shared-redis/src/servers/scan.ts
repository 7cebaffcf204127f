/** Scans: the names of stored entries. */

import type { Connection } from "../connection/connection.ts";

/** Names that a server looks at for one page. */
const SCAN_COUNT = "500";

/** The pattern of the entries whose key begins so. */
export function entryPattern(prefix: string, begin: string): string {
  return `${escapeGlob(`${prefix}x:${begin}`)}*`;
}

/** Pages of the names that a pattern finds on one server. */
export async function* scanOf(
  connection: Connection,
  pattern: string,
): AsyncGenerator<readonly string[]> {
  let cursor = "0";
  do {
    const page = ["SCAN", cursor, "MATCH", pattern, "COUNT", SCAN_COUNT];
    const [next, found] = (await connection.command(...page)) as [Buffer, Buffer[]];
    cursor = next.toString();
    if (found.length > 0) yield found.map(String);
  } while (cursor !== "0");
}

/** A text without a meaning in a pattern. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, String.raw`\$&`);
}
