/** Columns of a row that are not taken over. */

import { hasContent, type Row } from "../values.ts";
import type { Loss } from "./entry.ts";

/** A loss for a column that holds anything. */
export function lost(row: Row, column: string, why: string): Loss[] {
  return hasContent(row, column) ? [{ column, why }] : [];
}

/** A loss for each member of `metadata` that holds anything. */
export function lostNotes(metadata: Row, names: readonly string[], why: string): Loss[] {
  return names.flatMap((name) =>
    hasContent(metadata, name) ? [{ column: `metadata.${name}`, why }] : [],
  );
}
