/** What the doctor finds: one line each, with what to do. */

/**
 * `fail`: it does not start, or loses something. `warn`: it works, and the operator should look at
 * it. `skip`: it was not looked at.
 */
export type Grade = "ok" | "warn" | "fail" | "skip";

/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  readonly grade: Grade;
  /** What was found. Holds no secret. */
  readonly found: string;
  /** What to do; for `warn` and `fail`. */
  readonly fix?: string;
}

/** A check in words. */
export function formatCheck({ name, grade, found, fix }: Check): string {
  const line = `${grade.padEnd(4)}  ${name}: ${found}`;
  return fix === undefined ? line : `${line}\n      ${fix}`;
}
