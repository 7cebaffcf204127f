/** The browser of the tests: Debian's Chromium, by playwright-core. */

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = [
  process.env["CHROMIUM_PATH"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Where Chromium is; `undefined` where none is installed. */
export const CHROMIUM: string | undefined = PLACES.find(
  (path) => path !== undefined && existsSync(path),
);

/** Starts the browser. It asks no host on the internet. */
export function launchChromium(): Promise<Browser> {
  if (CHROMIUM === undefined)
    throw new Error("No Chromium is installed: node test/dashboard/install-chromium.ts");
  return chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
