/**
 * `npm run proof:reload`: a hundred edits a second for ten seconds, under load and over long
 * streams. Ends with 1 when a goal is missed.
 */

import { MEMORY_MARGIN_MB, runEditStorm } from "../system/support/edit-storm.ts";

const result = await runEditStorm({
  seconds: 10,
  editsPerSecond: 100,
  requestsPerSecond: 100,
  streams: 20,
});

const goals: readonly (readonly [what: string, seen: number, limit: number])[] = [
  ["failed requests", result.failed.length, 0],
  ["broken streams", result.brokenStreams.length, 0],
  ["replies of two generations", result.mixed.length, 0],
  ["ms until the last edit was live", Math.round(result.lastEditLiveMs), 1_000],
  ["generations alive at most", result.mostGenerations, 3],
  [
    "MB more memory than before",
    Math.max(0, result.memoryAfterMb - result.memoryBeforeMb),
    MEMORY_MARGIN_MB,
  ],
];

console.log(
  `${result.edits} edits, ${result.requests} requests, ${result.generationsMade} generations made`,
);
for (const [what, seen, limit] of goals)
  console.log(`${seen <= limit ? "ok  " : "MISS"}  ${seen}  ${what} (goal: ${limit})`);
process.exitCode = goals.every(([, seen, limit]) => seen <= limit) ? 0 : 1;
