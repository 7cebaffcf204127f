/**
 * Check 22, the part `vitals` of `npm run proof:dashboard`: what a browser on a slow processor
 * measures of each screen; `--screens keys,overview` for some. Ends with 1 when a goal is missed.
 */

import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { buildDashboard, isStale } from "../../core/dashboard/build.ts";
import { launchChromium } from "./support/chromium.ts";
import { isInText } from "./support/hand.ts";
import { looksOf } from "./support/places.ts";
import { type Seeded, sharedStand } from "./support/shared.ts";
import { visit } from "./support/visit.ts";
import { createGoals, type Goals, quantile } from "../soak/store/goals.ts";

const THROTTLE = 4;
const ROUNDS = 3;
const MAX_LCP_MS = 1_000;
const MAX_SHIFT = 0.02;
const MAX_INP_MS = 200;
/** A screen is settled when it has painted, moved and answered nothing for so long. */
const SETTLED_MS = 1_000;

interface Vitals {
  readonly lcpMs: number;
  /** What the largest paint is: its element and its first words. */
  readonly largest: string;
  readonly shift: number;
  readonly inpMs: number;
}

declare global {
  interface Window {
    vitals: { lcpMs: number; largest: string; shift: number; inpMs: number };
  }
}

const { values } = parseArgs({ options: { screens: { type: "string" } } });
const screens = values.screens?.split(",");
const goals = createGoals();
console.log("check 22: screens on a processor of a quarter of the speed");
await proveVitals(goals);
process.exit(goals.missed.length === 0 ? 0 : 1);

/** Loads each screen anew, works it with the keyboard, and reads the observers. */
async function proveVitals({ atMost }: Goals): Promise<void> {
  if (isStale()) await buildDashboard();
  const seeded = await sharedStand();
  const browser = await launchChromium();
  try {
    const found = new Map<string, Vitals>();
    for (const { name, fragment, ready, act } of looksOf(seeded)) {
      if (act !== undefined || screens?.includes(name) === false) continue;
      const rounds: Vitals[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        rounds.push(await vitalsOf(browser, seeded, fragment, ready));
      const middle = (of: (one: Vitals) => number): number => quantile(rounds.map(of), 0.5);
      const one = {
        lcpMs: middle(({ lcpMs }) => lcpMs),
        largest: rounds.at(-1)?.largest ?? "",
        shift: middle(({ shift }) => shift),
        inpMs: middle(({ inpMs }) => inpMs),
      };
      found.set(name, one);
      console.log(
        `      ${name}: LCP ${one.lcpMs.toFixed(0)} ms (${one.largest}), CLS ${one.shift.toFixed(3)}, INP ${one.inpMs.toFixed(0)} ms`,
      );
    }
    for (const [name, { lcpMs, shift, inpMs }] of found) {
      atMost(`${name}, LCP`, lcpMs, MAX_LCP_MS, "ms");
      atMost(`${name}, CLS`, shift, MAX_SHIFT, "");
      atMost(`${name}, INP`, inpMs, MAX_INP_MS, "ms");
    }
  } finally {
    await browser.close();
    await seeded.stand[Symbol.asyncDispose]();
  }
}

async function vitalsOf(
  browser: Browser,
  { stand }: Seeded,
  fragment: string,
  ready: (page: Page) => Promise<void>,
): Promise<Vitals> {
  await using visitor = await visit(browser, stand.site);
  const { page } = visitor;
  await visitor.signIn(stand.gateway.masterKey);
  await page.addInitScript(observe);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: THROTTLE });
  await page.goto("about:blank");
  await page.goto(`${stand.site.url}${fragment}`);
  await ready(page);
  await settle(page);
  // The largest paint is final with the first key.
  const { lcpMs, largest, shift } = await page.evaluate(() => ({ ...window.vitals }));
  if (lcpMs === 0) throw new Error(`No paint of ${fragment} was reported.`);
  // In the text of the editor, Tab indents; after Escape it leaves.
  if (await isInText(page)) await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: /^Search/ }).pressSequentially("su");
  await page.keyboard.press("Escape");
  await page.locator("nav").getByRole("link", { name: "Teams", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Teams" }).waitFor();
  // Entries of events come with the frame after them.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))),
  );
  const { inpMs } = await page.evaluate(() => ({ ...window.vitals }));
  return { lcpMs, largest, shift, inpMs };
}

/** Waits for the paint of what the page shows, and for its last paint and shift. */
async function settle(page: Page): Promise<void> {
  const read = (): Promise<string> =>
    page.evaluate(() => {
      const { lcpMs, shift } = window.vitals;
      return JSON.stringify([lcpMs, shift, performance.getEntriesByType("resource").length]);
    });
  for (let before = "", now = await read(); now !== before;) {
    before = now;
    await page.waitForTimeout(SETTLED_MS);
    now = await read();
  }
}

/** Runs in the page, before its scripts. */
function observe(): void {
  const vitals = { lcpMs: 0, largest: "", shift: 0, inpMs: 0 };
  window.vitals = vitals;
  const watch = (type: string, take: (entry: PerformanceEntry) => void, more: object = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({
      type,
      buffered: true,
      ...more,
    });
  watch("largest-contentful-paint", (entry) => {
    const { element } = entry as unknown as { readonly element: Element | null };
    vitals.lcpMs = entry.startTime;
    vitals.largest = `${element?.localName}: ${element?.textContent?.slice(0, 40)}`;
  });
  watch("layout-shift", (entry) => {
    const { value, hadRecentInput } = entry as unknown as {
      readonly value: number;
      readonly hadRecentInput: boolean;
    };
    if (!hadRecentInput) vitals.shift += value;
  });
  watch(
    "event",
    (entry) => {
      const { interactionId } = entry as unknown as { readonly interactionId?: number };
      if (interactionId) vitals.inpMs = Math.max(vitals.inpMs, entry.duration);
    },
    { durationThreshold: 16 },
  );
}
