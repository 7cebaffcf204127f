/** Checks 8, 10 and 26: every screen in both themes, in a narrow window, in forced colours. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { sidewaysOf, violationsOf } from "./support/audit.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { type Look, looksOf } from "./support/places.ts";
import { type Seeded, sharedBrowser, sharedStand } from "./support/shared.ts";
import { type Visit, visit } from "./support/visit.ts";

/** Where the run leaves its pictures. `SLUICE_SCREENSHOTS` names the folder of the documents. */
const PICTURES = process.env["SLUICE_SCREENSHOTS"] ?? "node_modules/.cache/dashboard";

/** Themes differ in colours, and windows in their width: a rule is checked where it may differ. */
const RULES: Readonly<Record<string, string>> = { dark: "color-contrast", narrow: "target-size" };

const WINDOWS = [
  { name: "light", colorScheme: "light", viewport: { width: 1_440, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1_440, height: 900 } },
  {
    name: "narrow",
    colorScheme: "light",
    viewport: { width: 320, height: 720 },
    reducedMotion: "reduce",
    forcedColors: "active",
  },
] as const;

describe.skipIf(CHROMIUM === undefined)("checks 7, 8, 10 and 26: every screen", () => {
  let seeded: Seeded;

  beforeAll(async () => {
    seeded = await sharedStand();
    mkdirSync(PICTURES, { recursive: true });
  });

  it.each(WINDOWS)("in the window $name", async ({ name, ...options }) => {
    const browser = await sharedBrowser();
    await using visitor = await visit(browser, seeded.stand.site, options);
    await visitor.page.goto(seeded.stand.site.url);
    await visitor.page.getByRole("heading", { name: "Sign in" }).waitFor();
    const found: string[] = [];
    await look("sign-in", visitor, name, found);
    await visitor.signIn(seeded.stand.gateway.masterKey);
    for (const one of looksOf(seeded)) {
      await show(visitor.page, one);
      await look(one.name, visitor, name, found);
      await closeDialog(visitor.page);
    }
    expect(found).toEqual([]);
    expect(visitor.unexpected()).toEqual([]);
  });
});

async function show(page: Page, { fragment, ready, act }: Look): Promise<void> {
  await page.evaluate((to) => (location.hash = to), fragment);
  await ready(page);
  await act?.(page);
}

async function look(what: string, { page }: Visit, window: string, found: string[]): Promise<void> {
  await settled(page);
  const faults = [...(await violationsOf(page, RULES[window])), ...(await sidewaysOf(page))];
  found.push(...faults.map((fault) => `${what}: ${fault}`));
  await page.screenshot({ path: join(PICTURES, `${what}-${window}.png`) });
}

/** What fades in has its colours when it is there. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState !== "running"),
  );
}

async function closeDialog(page: Page): Promise<void> {
  if ((await page.locator("dialog[open]").count()) > 0) await page.keyboard.press("Escape");
}
