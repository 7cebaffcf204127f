/**
 * `npm run verify`: everything that must hold before a change lands. Stops at the first failure.
 * `--tested`: the tests have run. `--short`: without the long tests of fleets and processes.
 */

import { spawnSync } from "node:child_process";

const CHECKS: readonly { readonly what: string; readonly command: readonly string[] }[] = [
  { what: "types", command: ["npm", "run", "-s", "typecheck"] },
  { what: "lint and format", command: ["npm", "run", "-s", "lint"] },
  { what: "the shipped configuration", command: ["npm", "run", "-s", "sluice", "--", "check"] },
  { what: "generated schemas", command: ["npm", "run", "-s", "sluice", "--", "schema", "--check"] },
  { what: "proofs by repetition", command: ["npm", "run", "-s", "proof:units"] },
  { what: "words planted into requests", command: ["npm", "run", "-s", "proof:planted"] },
  { what: "tests of whole processes", command: ["npm", "run", "-s", "test:processes"] },
  {
    what: "the dashboard's build and budgets",
    command: ["npm", "exec", "--", "node", "core/dashboard/build.ts", "--force", "--check"],
  },
  { what: "the dashboard in a browser", command: ["npm", "run", "-s", "test:dashboard"] },
  { what: "tests", command: ["npm", "test", "--silent"] },
  { what: "further tests of features", command: ["npm", "run", "-s", "test:further"] },
  { what: "long tests", command: ["npm", "run", "-s", "test:long"] },
];

const skipped = new Set<string>();
if (process.argv.includes("--tested")) skipped.add("tests");
if (process.argv.includes("--short")) skipped.add("long tests");
for (const { what, command } of CHECKS) {
  if (skipped.has(what)) continue;
  console.log(`verify: ${what}`);
  const [name = "", ...parameters] = command;
  const { status } = spawnSync(name, parameters, { stdio: "inherit" });
  if (status !== 0) {
    console.error(`verify: ${what} failed`);
    process.exit(1);
  }
}
console.log("verify: everything holds");
