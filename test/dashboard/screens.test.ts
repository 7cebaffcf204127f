/** Checks 7, 8, 10 and 26: every screen in both themes, in narrow windows, in forced colours. */

import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { misplacedOf, sidewaysOf, violationsOf } from "./support/audit.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { MAKES_DOCUMENTS, picture, settled, writeGallery } from "./support/pictures.ts";
import { type Look, looksOf } from "./support/places.ts";
import { type Seeded, sharedBrowser, sharedStand } from "./support/shared.ts";
import { type Visit, visit } from "./support/visit.ts";

interface Window extends BrowserContextOptions {
  readonly name: string;
  /** Rules of axe-core: themes differ in colours, and windows in their width. */
  readonly audit: "all" | "color-contrast" | "target-size" | "none";
}

const WIDE = { width: 1_440, height: 900 };
const MEDIUM = { width: 768, height: 1_024 };
const NARROW = { width: 320, height: 720 };

const WINDOWS: readonly Window[] = [
  { name: "light", audit: "all", colorScheme: "light", viewport: WIDE },
  { name: "dark", audit: "color-contrast", colorScheme: "dark", viewport: WIDE },
  { name: "medium", audit: "none", colorScheme: "light", viewport: MEDIUM },
  {
    name: "forced",
    audit: "target-size",
    colorScheme: "light",
    viewport: NARROW,
    reducedMotion: "reduce",
    forcedColors: "active",
  },
];

/** Windows for the eye alone. */
const PICTURES: readonly Window[] = [
  { name: "medium-dark", audit: "none", colorScheme: "dark", viewport: MEDIUM },
  { name: "narrow", audit: "none", colorScheme: "light", viewport: NARROW },
  { name: "narrow-dark", audit: "none", colorScheme: "dark", viewport: NARROW },
];

describe.skipIf(CHROMIUM === undefined)("checks 7, 8, 10 and 26: every screen", () => {
  let seeded: Seeded;

  beforeAll(async () => {
    seeded = await sharedStand();
  });

  it.each(MAKES_DOCUMENTS ? [...WINDOWS, ...PICTURES] : WINDOWS)(
    "in the window $name",
    async ({ name, audit, ...options }) => {
      const browser = await sharedBrowser();
      await using visitor = await visit(browser, seeded.stand.site, options);
      const found: string[] = [];
      const look = async (what: string): Promise<void> => {
        await settled(visitor.page);
        const faults = [
          ...(audit === "none" ? [] : await violationsOf(visitor.page, audit)),
          ...(await sidewaysOf(visitor.page)),
          ...(await misplacedOf(visitor.page)),
        ];
        found.push(...faults.map((fault) => `${what}: ${fault}`));
        await picture(visitor.page, what, name);
      };
      await visitor.page.goto(seeded.stand.site.url);
      await visitor.page.getByRole("heading", { name: "Sign in" }).waitFor();
      await look("sign-in");
      await visitor.signIn(seeded.stand.gateway.masterKey);
      for (const one of looksOf(seeded)) {
        await show(visitor, one);
        await look(one.name);
        await closeDialog(visitor.page);
      }
      writeGallery(["sign-in", ...looksOf(seeded).map((one) => one.name)]);
      expect(found).toEqual([]);
      expect(visitor.unexpected()).toEqual([]);
    },
  );
});

async function show({ page }: Visit, { fragment, ready, act }: Look): Promise<void> {
  await page.evaluate((to) => (location.hash = to), fragment);
  await ready(page);
  await act?.(page);
}

async function closeDialog(page: Page): Promise<void> {
  if ((await page.locator("dialog[open]").count()) > 0) await page.keyboard.press("Escape");
}
