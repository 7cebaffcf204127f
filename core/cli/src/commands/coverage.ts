/** `sluice check --coverage`: what protects each route, as a table. */

import type { JsonObject } from "@sluice/contract";
import { describeCoverage, type RouteCoverage } from "@sluice/engine/check";
import { printTable } from "../print/records.ts";

/** Prints the table. */
export function printCoverage(coverage: readonly RouteCoverage[]): void {
  const yesOrNo = (column: string) => (row: JsonObject) => (row[column] === true ? "yes" : "no");
  const names = (column: string) => (row: JsonObject) => {
    const list = row[column] as readonly string[];
    return list.length === 0 ? "none" : list.join(",");
  };
  printTable(
    {
      route: (row) => row["route"],
      pipeline: (row) => row["pipeline"],
      auth: yesOrNo("auth"),
      limits: yesOrNo("limits"),
      budget: yesOrNo("budget"),
      cost: yesOrNo("cost"),
      in: names("guardrails_in"),
      out: names("guardrails_out"),
      stream: (row) => row["stream"],
      deadline: (row) => `${Number(row["deadline_ms"]) / 1000}s`,
      tests: (row) => row["tests"],
    },
    coverage.map(describeCoverage),
  );
}
