/**
 * A visit of the dashboard in a browser. It collects what must not happen: errors and warnings of
 * the console, reports of the policy, failed requests, and requests to other origins.
 */

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Site } from "./site.ts";

/** A visit. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Lets faults of a kind pass: those that the test makes itself. */
  allow(fault: RegExp): void;
  /** What happened that must not, and is not allowed. */
  unexpected(): readonly string[];
  /** Signs in with a key and waits for the first screen. */
  signIn(key: string): Promise<void>;
  /** Goes to a fragment and waits for the heading. */
  open(fragment: string, heading: string | RegExp): Promise<void>;
}

/** How long an action waits for its element. */
const WAIT_MS = 20_000;

/** Chromium writes a line for each answer with an error status; before a sign-in there is one. */
const SIGNED_OUT = /status of 401 .*\/ui\/session/;

/** Opens a page of the browser. */
export async function visit(
  browser: Browser,
  site: Site,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1_440, height: 900 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    ...options,
  });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) =>
      console.error(
        `policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}:${event.columnNumber}`,
      ),
    );
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  const allowed: RegExp[] = [SIGNED_OUT];
  collect(page, new URL(site.url).origin, faults);
  return {
    page,
    allow: (pattern) => void allowed.push(pattern),
    unexpected: () => faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault))),
    async signIn(key) {
      await page.goto(site.url);
      await page.getByLabel("Key", { exact: true }).fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("button", { name: /account and theme/ }).waitFor();
    },
    async open(fragment, heading) {
      await page.evaluate((to) => (location.hash = to), fragment);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    },
    async [Symbol.asyncDispose]() {
      await context.close();
    },
  };
}

function collect(page: Page, origin: string, faults: string[]): void {
  page.on("console", (message) => {
    const type = message.type();
    if (type !== "error" && type !== "warning") return;
    faults.push(`console ${type}: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== "data:" && url.protocol !== "blob:")
      faults.push(`another origin: ${request.url()}`);
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "";
    // A read that nothing waits for any more is cancelled.
    if (reason !== "net::ERR_ABORTED") faults.push(`failed: ${request.url()} ${reason}`);
  });
}
