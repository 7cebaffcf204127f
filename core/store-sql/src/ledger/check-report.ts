/** What the sums of spend do not answer. */

import {
  GatewayError,
  SPEND_DIMENSIONS,
  type SpendDimension,
  type SpendReportQuery,
} from "@sluice/contract";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Checks that the sums answer a query. `unit` is the unit of time of the sums that it reads. Throws
 * `invalid_field`.
 */
export function checkReport(query: SpendReportQuery, unit: "hour" | "day"): void {
  checkQuery(query);
  checkSpan(query, unit);
}

function checkQuery({ by, bucket, filter, order, after }: SpendReportQuery): void {
  const names = new Set<SpendDimension>([
    ...by,
    ...SPEND_DIMENSIONS.filter((name) => filter[name] !== undefined),
  ]);
  if (by.length > 2 || new Set(by).size < by.length)
    throw refusal("A spend report groups by at most two different dimensions.");
  if (names.has("tag") && names.has("customer"))
    throw refusal(
      "A spend report has tags or customers, not both: no sums of a customer's tags are kept.",
    );
  if (names.has("customer") && bucket === "hour")
    throw refusal("A spend report of customers has days, not hours. Ask with the bucket day.");
  if (filter.tag === "" || filter.customer === "")
    throw refusal("A spend report cannot select rows without a tag or a customer.");
  if (order === "spend" && (bucket !== "none" || after !== undefined))
    throw refusal("A spend report in the order of spend has neither buckets nor pages.");
}

function checkSpan({ fromMs = 0, toMs = 0 }: SpendReportQuery, unit: "hour" | "day"): void {
  const unitMs = unit === "day" ? DAY_MS : HOUR_MS;
  if (Number.isInteger(fromMs / unitMs) && Number.isInteger(toMs / unitMs)) return;
  throw refusal(
    unit === "day"
      ? "A spend report of customers begins and ends with a day in UTC."
      : "A spend report begins and ends with an hour in UTC.",
  );
}

function refusal(message: string): GatewayError {
  return new GatewayError("invalid_field", message);
}
