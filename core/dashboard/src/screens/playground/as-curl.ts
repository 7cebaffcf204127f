/** A played request as a line of curl for a client. */

import { shellWord } from "../../parts/as-command.tsx";
import type { Body } from "./draft.ts";

/** The line. Address and key are variables: the page knows neither. */
export function asCurl(route: string, body: Body): string {
  const path = route.split(" ")[1] ?? "";
  return [
    `curl "$GATEWAY_URL"${shellWord(path)}`,
    `  -H "Authorization: Bearer $GATEWAY_KEY"`,
    `  -H "Content-Type: application/json"`,
    `  -d ${shellWord(JSON.stringify(body))}`,
  ].join(" \\\n");
}
