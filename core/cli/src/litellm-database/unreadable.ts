/**
 * Columns that bound a key or a team, and whose value has another form than LiteLLM writes: taken
 * as absent they would give more than the row allows.
 */

import type { Loss } from "./loss.ts";
import {
  hasContent,
  isFalseAt,
  isTrueAt,
  numberAt,
  objectAt,
  readListAt,
  type Row,
  timeAt,
} from "./values.ts";

const NUMBERS = ["max_budget", "rpm_limit", "tpm_limit", "max_parallel_requests"];
/** Columns of keys that teams do not have are absent there, and so without content. */
const LISTS = ["models", "allowed_routes"];
/** Members of `metadata` that become fields. */
const NOTED_LISTS = ["guardrails", "tags"];

/** The columns of a row that cannot be read. */
export function unreadableBounds(row: Row): Loss[] {
  const metadata = objectAt(row, "metadata");
  return [
    ...faults(row, NUMBERS, "it is not a number", numberAt),
    ...faults(row, LISTS, "it is not a list of names", readListAt),
    ...faults(row, ["expires"], "it is not a time of ISO 8601", timeAt),
    ...(isTrueAt(row, "blocked") || isFalseAt(row, "blocked")
      ? []
      : [{ column: "blocked", why: "it is neither true nor false" }]),
    ...(hasContent(row, "metadata") && Object.keys(metadata).length === 0
      ? [{ column: "metadata", why: "it is not an object" }]
      : []),
    ...faults(metadata, NOTED_LISTS, "it is not a list of names", readListAt).map(
      ({ column, why }) => ({ column: `metadata.${column}`, why }),
    ),
  ];
}

function faults(
  row: Row,
  columns: readonly string[],
  why: string,
  read: (row: Row, column: string) => unknown,
): Loss[] {
  return columns
    .filter((column) => hasContent(row, column) && read(row, column) === undefined)
    .map((column) => ({ column, why }));
}
