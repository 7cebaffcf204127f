/**
 * A browser for all files of the project, and a gateway with records and traffic for those that
 * only look. Both are started once in the process and end with it.
 */

import type { Browser } from "playwright-core";
import { launchChromium } from "./chromium.ts";
import { seedHistory, seedRecords, seedTraffic, type SeededKeys } from "./seed.ts";
import { startStand, type Stand } from "./stand.ts";

/** A stand with what the seed made. */
export interface Seeded {
  readonly stand: Stand;
  readonly keys: SeededKeys;
  /** Ids of requests by what they show: `fallback`, `refused`, `good`. */
  readonly requests: ReadonlyMap<string, string>;
}

/** One that masks, one that refuses, and one in shadow. */
const GUARDRAILS = `guardrails:
  pii: { use: pii, action: mask, default_on: true }
  secrets: { use: secrets, default_on: true }
  rivals: { use: words, mode: shadow, default_on: true, lists: [{ name: competitors, words: [Initech, "Umbrella Corp"] }] }`;

let browser: Promise<Browser> | undefined;
let seeded: Promise<Seeded> | undefined;

/** The browser. */
export function sharedBrowser(): Promise<Browser> {
  browser ??= launchChromium().then((started) => {
    endWithProcess(() => void started.close());
    return started;
  });
  return browser;
}

/** The gateway with records. Tests leave it as it is. */
export function sharedStand(): Promise<Seeded> {
  seeded ??= seed();
  return seeded;
}

async function seed(): Promise<Seeded> {
  const stand = await startStand({ sections: [GUARDRAILS] });
  endWithProcess(() => stand.gateway.signal("SIGKILL"));
  const keys = await seedRecords(stand);
  const requests = await seedTraffic(stand, keys);
  await seedHistory(stand);
  return { stand, keys, requests };
}

function endWithProcess(end: () => void): void {
  process.once("exit", end);
  process.once("SIGTERM", end);
}
