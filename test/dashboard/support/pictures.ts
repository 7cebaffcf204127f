/** Screenshots: as PNG in the cache, and as WebP beside the documents where it is asked for. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

/** Where every run leaves its pictures. */
const CACHE = new URL("../../../node_modules/.cache/dashboard", import.meta.url).pathname;

/** `docs/dashboard`, where `SLUICE_SCREENSHOTS=docs` writes a folder for each window. */
const DOCUMENTS = new URL("../../../docs/dashboard", import.meta.url).pathname;

const QUALITY = 55;
/** Windows whose pictures are documents; the others stay in the cache. */
const KEPT: ReadonlySet<string> = new Set(["light", "dark", "narrow"]);

/** Whether the run makes the pictures of the documents. */
export const MAKES_DOCUMENTS = process.env["SLUICE_SCREENSHOTS"] === "docs";

/** Writes the page of the pictures, in a run that makes the documents. */
export function writeGallery(screens: readonly string[]): void {
  if (!MAKES_DOCUMENTS) return;
  const sections = screens.map(
    (name) => `## ${name}

| Light | Dark | 320 pixels |
|---|---|---|
| ![${name}, light](light/${name}.webp) | ![${name}, dark](dark/${name}.webp) | ![${name}, narrow](narrow/${name}.webp) |
`,
  );
  writeFileSync(
    join(DOCUMENTS, "screens.md"),
    `# Screens of the dashboard

<!-- Made by \`SLUICE_SCREENSHOTS=docs npm run test:dashboard\`. Do not edit. -->

Made-up records and requests. The windows are 1440 and 320 pixels wide.

${sections.join("\n")}`,
  );
}

/** What fades in has its colours when it is there. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState, effect }) => {
      // What is drawn while data is loaded repeats without an end.
      const { iterations } = effect?.getTiming() ?? {};
      return playState !== "running" || iterations === Infinity;
    }),
  );
}

/** Takes a picture of what the window shows. No pointer is over it. */
export async function picture(page: Page, screen: string, window: string): Promise<void> {
  await page.mouse.move(0, 0);
  await settled(page);
  mkdirSync(CACHE, { recursive: true });
  await page.screenshot({ path: join(CACHE, `${screen}-${window}.png`) });
  if (!MAKES_DOCUMENTS || !KEPT.has(window)) return;
  const folder = join(DOCUMENTS, window);
  mkdirSync(folder, { recursive: true });
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", {
    format: "webp",
    quality: QUALITY,
  });
  await session.detach();
  writeFileSync(join(folder, `${screen}.webp`), Buffer.from(data, "base64"));
}
