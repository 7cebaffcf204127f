/**
 * `node test/bench/report/write.ts FILE…`: writes results.md from the rounds that `npm run bench --
 * --collect FILE` has kept. Each file has its own tables.
 */

import { writeFileSync } from "node:fs";
import { readCollected } from "./collect.ts";
import { headline, section, summarize } from "./tables.ts";

const RESULTS = new URL("../results.md", import.meta.url);

const files = process.argv.slice(2);
const sections = files.map((file) =>
  section(
    Object.entries(readCollected(file)).map(([scenario, measured]) =>
      summarize(scenario, measured),
    ),
  ),
);
if (sections.length === 0) {
  console.error("Name the files that `npm run bench -- --collect FILE` has written.");
  process.exitCode = 2;
} else writeFileSync(RESULTS, `${[headline("--collect"), ...sections].join("\n\n")}\n`);
