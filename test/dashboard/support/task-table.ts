/** How many clicks and keys each task took. */

import { writeFileSync } from "node:fs";
import type { Hand } from "./hand.ts";
import { MAKES_DOCUMENTS } from "./pictures.ts";

/** Counts by the title of the task. */
export type TaskCounts = ReadonlyMap<string, Partial<Record<Hand["name"], number>>>;

const PAGE = new URL("../../../docs/dashboard/tasks.md", import.meta.url).pathname;

/** The counts as a table. */
export function taskTable(counts: TaskCounts): string {
  const rows = [...counts].map(
    ([title, { mouse, keyboard }]) => `| ${title} | ${mouse ?? "–"} | ${keyboard ?? "–"} |`,
  );
  return ["| Task | Clicks | Keys |", "|---|--:|--:|", ...rows].join("\n");
}

/** Writes the page of the documents, in a run that makes them. */
export function replaceTaskTable(counts: TaskCounts): void {
  if (!MAKES_DOCUMENTS) return;
  writeFileSync(
    PAGE,
    `# Tasks of an operator

<!-- Made by \`SLUICE_SCREENSHOTS=docs npm run test:dashboard\`. Do not edit. -->

Each begins on the Overview, after the sign-in. *Clicks* are those of the mouse; *Keys* are the keys pressed with the keyboard alone, without
the text that is typed into fields.

${taskTable(counts)}
`,
  );
}
