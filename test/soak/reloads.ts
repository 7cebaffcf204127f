/**
 * `npm run proof:reloads`: a thousand reloads of the shipped configuration under traffic; what
 * memory, handles and the slowest requests make of it. Ends with 1 when a goal is missed. `--
 * --reloads 200` for fewer.
 */

import { parseArgs } from "node:util";
import { checkConfig } from "@sluice/engine/check";
import { soakGoals } from "../../core/cli/src/soak/goals.ts";
import { runSoak } from "../../core/cli/src/soak/run-soak.ts";

const { values } = parseArgs({
  options: {
    reloads: { type: "string", default: "1000" },
    "every-ms": { type: "string", default: "250" },
    rate: { type: "string", default: "50" },
  },
});
const ROOT = new URL("../../", import.meta.url).pathname;
const MAX_RESIDENT_SLOPE_MB = 0.1;

const { opened, snapshot, findings } = await checkConfig({
  path: "config/gateway.yaml",
  cwd: ROOT,
  environment: { OPENAI_API_KEY: "sk-of-the-proof" },
});
if (snapshot === undefined) throw new Error(findings.map(({ message }) => message).join("\n"));

const result = await runSoak({
  opened,
  snapshot,
  reloadEveryMs: Number(values["every-ms"]),
  reloads: Number(values.reloads),
  requestsPerSecond: Number(values.rate),
  looks: 20,
  warmUp: 0.2,
  onReload: (count) => void (count % 100 === 0 && console.log(`${count} reloads`)),
});
const residentSlope = result.rssSlopeMb ?? Number.NaN;
const isFlat = residentSlope <= MAX_RESIDENT_SLOPE_MB;
console.log(
  `${result.reloads} reloads of ${result.swapP50Ms.toFixed(0)} ms each, ${result.requests} requests, ${result.streams} of them streams`,
);
console.log(
  `median ${result.p50SwapMs.toFixed(1)} ms during a swap, ${result.p50Ms.toFixed(1)} ms between`,
);
for (const { reloads, rss, heapUsed, handles, files } of result.looks) {
  const [resident, heap] = [rss, heapUsed].map((bytes) => (bytes / 1_048_576).toFixed(1));
  console.log(
    `  after ${reloads}: ${resident} MB resident, ${heap} MB heap, ${handles} handles, ${files} open files`,
  );
}
const goals = soakGoals(result);
for (const { text } of goals) console.log(text);
for (const [fault, count] of Object.entries(result.faults))
  console.log(`      ${count} failed: ${fault}`);
console.log(
  `${isFlat ? "ok   " : "MISS "} ${residentSlope.toFixed(3)} MB of resident memory a reload (goal: ${MAX_RESIDENT_SLOPE_MB})`,
);
process.exitCode = isFlat && goals.every(({ isMet }) => isMet) ? 0 : 1;
