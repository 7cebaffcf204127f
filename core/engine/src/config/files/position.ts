/** Places in files. */

/** A place in a file: one-based line and column. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}
