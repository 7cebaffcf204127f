/** All groups of a report of spend, page after page, as the caller may see them. */

import { type EdgeAnswer, type EdgeGateway, GatewayError, type JsonObject } from "@sluice/contract";
import { getOwn, objectIn, objectsIn } from "../administration/calls.ts";

/** Parameters of a report. Absent ones and `undefined` ask for nothing. */
export type ReportQuery = Readonly<Record<string, string | undefined>>;

/** Maximum pages of a report, of 1,000 groups each. */
const MAX_PAGES = 200;

/** The groups, or the answer of a failure. Throws `invalid_field` for more than 200,000. */
export async function reportGroups(
  gateway: EdgeGateway,
  query: ReportQuery,
): Promise<readonly JsonObject[] | EdgeAnswer> {
  const groups: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- pages come one after the other.
    const answer = await getOwn(gateway, "/spend/report", { ...query, cursor });
    if (answer.status !== 200) return answer;
    const { data, next_cursor: next } = objectIn(answer);
    groups.push(...objectsIn(data));
    if (typeof next !== "string") return groups;
    cursor = next;
  }
  throw new GatewayError("invalid_field", "The report is too large: send fewer days.", {
    param: "end_date",
  });
}

/** Whether groups were read. */
export function isGroups(
  found: readonly JsonObject[] | EdgeAnswer,
): found is readonly JsonObject[] {
  return Array.isArray(found);
}

/** A day of a query. Throws `invalid_field` without one. */
export function dayIn(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? "";
  if (/^\d{4}-\d\d-\d\d/.test(text)) return text.slice(0, 10);
  throw new GatewayError(
    "invalid_field",
    `The query parameter ${name} must be a day such as 2030-01-31.`,
    { param: name },
  );
}
