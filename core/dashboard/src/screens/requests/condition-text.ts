/** The condition of a step as one line. */

import type { TraceStep } from "../../api/requests.ts";

/** `team: support, sales; header.x-plan: gold`. */
export function conditionText({ header = {}, ...members }: NonNullable<TraceStep["when"]>): string {
  const headers = Object.entries(header).map(
    ([name, values]) => [`header.${name}`, values] as const,
  );
  return [...Object.entries(members), ...headers]
    .map(([name, taken]) => `${name}: ${Array.isArray(taken) ? taken.join(", ") : String(taken)}`)
    .join("; ");
}
