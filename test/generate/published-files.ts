/** Writes the list of the files of each published package: `test/release/published-files.txt`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { publishedFiles } from "../release/plan.ts";

const file = join(import.meta.dirname, "../release/published-files.txt");
writeFileSync(file, publishedFiles());
console.log(`wrote ${file}`);
