/** Columns of a row that are not taken over. */

import { hasContent, type Row } from "./values.ts";

/** A column that is not taken over. */
export interface Loss {
  readonly column: string;
  readonly why: string;
}

/** A loss for a column that holds anything. */
export function lost(row: Row, column: string, why: string): Loss[] {
  return hasContent(row, column) ? [{ column, why }] : [];
}
