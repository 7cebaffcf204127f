/**
 * The part `heap` of check 14 in `npm run proof:dashboard`: live screens that stay open under
 * traffic. What is left of a tab after a collection does not grow. `--minutes 10` and `--rate 20`
 * are how long and how many requests a second. Ends with 1 when a goal is missed.
 */

import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Browser, CDPSession } from "playwright-core";
import { buildDashboard, isStale } from "../../core/dashboard/build.ts";
import { createGoals, type Goals, quantile } from "../soak/store/goals.ts";
import { chat } from "../system/support/client.ts";
import { launchChromium } from "./support/chromium.ts";
import { type Seeded, sharedStand } from "./support/shared.ts";
import { type Visit, visit } from "./support/visit.ts";

const SCREENS: Readonly<Record<string, readonly [fragment: string, heading: string]>> = {
  overview: ["#/overview?window=15m", "Overview"],
  requests: ["#/requests", "Requests"],
  deployments: ["#/models/deployments", "Models"],
  history: ["#/history", "History"],
  system: ["#/system", "System"],
};
const SAMPLE_MS = 20_000;
/** The part of the time at its begin that fills caches and compiles, and that which is compared. */
const WARM = 0.2;
const COMPARED = 0.25;
const MAX_GROWTH = 1.05;
const MAX_OPEN = 50;

interface Tab {
  readonly name: string;
  readonly visitor: Visit;
  readonly session: CDPSession;
  readonly samples: Sample[];
}

interface Sample {
  readonly atMs: number;
  readonly heapMb: number;
  readonly nodes: number;
  readonly listeners: number;
}

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "20" },
  },
});
const goals = createGoals();
const minutes = Number(values.minutes);
console.log(`check 14: tabs that are open for ${minutes} minutes`);
await proveHeap(goals, minutes * 60_000, Number(values.rate));
process.exit(goals.missed.length === 0 ? 0 : 1);

async function proveHeap({ atMost }: Goals, totalMs: number, rate: number): Promise<void> {
  if (isStale()) await buildDashboard();
  const seeded = await sharedStand();
  const browser = await launchChromium();
  const ends = new AbortController();
  try {
    const tabs: Tab[] = [];
    for (const [name, place] of Object.entries(SCREENS))
      tabs.push(await openTab(browser, seeded, name, place));
    const sent = sendTraffic(seeded, rate, ends.signal);
    const beganMs = performance.now();
    while (performance.now() - beganMs < totalMs) {
      await pause(SAMPLE_MS);
      for (const tab of tabs) tab.samples.push(await sampleOf(tab, performance.now() - beganMs));
    }
    ends.abort();
    console.log(`      ${await sent} requests of chat`);
    for (const { name, samples, visitor } of tabs) {
      const faults = visitor.unexpected();
      if (faults.length > 0) throw new Error(`${name}: ${faults.join("; ")}`);
      const shown = samples.filter((_, index) => index % 3 === 0);
      console.log(`      ${name}: ${shown.map(({ heapMb }) => heapMb.toFixed(2)).join(", ")} MB`);
      const growth = (of: (sample: Sample) => number): number => growthOf(samples, totalMs, of);
      atMost(
        `${name}, the heap at the end by that at the begin`,
        growth(({ heapMb }) => heapMb),
        MAX_GROWTH,
        "",
      );
      atMost(
        `${name}, nodes of the page`,
        growth(({ nodes }) => nodes),
        MAX_GROWTH,
        "",
      );
      atMost(
        `${name}, listeners of events`,
        growth(({ listeners }) => listeners),
        MAX_GROWTH,
        "",
      );
    }
  } finally {
    ends.abort();
    await browser.close();
    await seeded.stand[Symbol.asyncDispose]();
  }
}

/** The median of the end by the median of the begin after the warm-up. */
function growthOf(
  samples: readonly Sample[],
  totalMs: number,
  of: (sample: Sample) => number,
): number {
  const within = (from: number, to: number): number =>
    quantile(
      samples.filter(({ atMs }) => atMs >= from * totalMs && atMs < to * totalMs).map(of),
      0.5,
    );
  return within(1 - COMPARED, Infinity) / within(WARM, WARM + COMPARED);
}

async function openTab(
  browser: Browser,
  { stand }: Seeded,
  name: string,
  [fragment, heading]: readonly [string, string],
): Promise<Tab> {
  const visitor = await visit(browser, stand.site);
  await visitor.signIn(stand.gateway.masterKey);
  await visitor.open(fragment, heading);
  const session = await visitor.page.context().newCDPSession(visitor.page);
  await session.send("Performance.enable");
  await session.send("HeapProfiler.enable");
  return { name, visitor, session, samples: [] };
}

/** What is left after a collection. */
async function sampleOf({ session }: Tab, atMs: number): Promise<Sample> {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (wanted: string): number =>
    metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return {
    atMs,
    heapMb: value("JSHeapUsedSize") / 1_048_576,
    nodes: value("Nodes"),
    listeners: value("JSEventListeners"),
  };
}

/** Sends chat requests at a rate. Resolves with their number. */
async function sendTraffic(
  { stand, keys }: Seeded,
  rate: number,
  signal: AbortSignal,
): Promise<number> {
  const headers = { authorization: `Bearer ${keys.get("notebook-ben")?.key}` };
  const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Say something." }] };
  let [sent, open] = [0, 0];
  while (!signal.aborted) {
    if (open < MAX_OPEN) {
      sent += 1;
      open += 1;
      chat(stand.gateway, body, { headers })
        .then((response) => response.text())
        .catch(() => undefined)
        .finally(() => (open -= 1));
    }
    await pause(1_000 / rate, undefined, { signal }).catch(() => undefined);
  }
  return sent;
}
