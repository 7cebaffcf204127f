/**
 * Columns that bound a record, and whose value has another form than LiteLLM writes: taken as
 * absent they would give more than the row allows.
 */

import {
  hasContent,
  isFalseAt,
  isTrueAt,
  jsonAt,
  numberAt,
  objectAt,
  readListAt,
  type Row,
  textAt,
  timeAt,
} from "../values.ts";
import { isObject } from "@sluice/kit";
import type { Loss } from "./entry.ts";

const NUMBERS = ["max_budget", "rpm_limit", "tpm_limit", "max_parallel_requests", "spend"];
/** Columns that a table does not have are absent in its rows, and so without content. */
const LISTS = ["models", "allowed_routes", "access_group_ids", "allowed_models"];
const IDS = ["team_id", "user_id", "organization_id", "budget_id", "project_id", "agent_id"];
/** Members of `metadata` that become fields. */
const NOTED_LISTS = ["guardrails", "tags"];

/** The columns of a row that cannot be read. */
export function unreadableColumns(row: Row): Loss[] {
  const metadata = objectAt(row, "metadata");
  return [
    ...faults(row, NUMBERS, "it is not a number", numberAt),
    ...faults(row, LISTS, "it is not a list of names", readListAt),
    ...faults(row, ["expires"], "it is not a time of ISO 8601", timeAt),
    ...faults(row, IDS, "it is not a text", textAt),
    ...faults(row, ["budget_duration"], "it is not a text", textAt),
    ...(isTrueAt(row, "blocked") || isFalseAt(row, "blocked")
      ? []
      : [{ column: "blocked", why: "it is neither true nor false" }]),
    ...(hasContent(row, "metadata") && !isObject(jsonAt(row, "metadata"))
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
