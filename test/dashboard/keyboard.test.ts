/** Check 9: with the keyboard alone. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin } from "../system/support/client.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import { startStand, type Stand } from "./support/stand.ts";
import { type Visit, visit } from "./support/visit.ts";

const MAX_TABS = 80;

describe.skipIf(CHROMIUM === undefined)("the keyboard alone", () => {
  let stand: Stand;
  let visitor: Visit;

  beforeAll(async () => {
    stand = await startStand();
    visitor = await visit(await sharedBrowser(), stand.site);
  });

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]();
    await stand?.[Symbol.asyncDispose]();
  });

  it("check 9: signs in, makes a key, edits it, rotates it, blocks it", async () => {
    const { page } = visitor;
    const { gateway } = stand;
    const { keyboard } = page;
    await page.goto(stand.site.url);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await keyboard.type(gateway.masterKey);
    await keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await tabTo(page, "Keys");
    await keyboard.press("Enter");
    await page.getByText("There are no keys yet").waitFor();

    await tabTo(page, "New key");
    await keyboard.press("Enter");
    await focused(page, "Name");
    await keyboard.type("by keyboard");
    await tabTo(page, "Models");
    await keyboard.type("gpt-4o,");
    await tabTo(page, "Budget");
    await keyboard.type("2");
    await keyboard.press("Enter");
    await page.getByText("The key, shown this once").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("Escape");
    await page.getByRole("heading", { level: 1, name: "by keyboard" }).waitFor();

    await tabTo(page, "Edit");
    await keyboard.press("Enter");
    await focused(page, "Name");
    await stays(page, "dialog[open]");
    await tabTo(page, "Requests a minute");
    await keyboard.type("5");
    await keyboard.press("Enter");
    await page.getByText("The key is changed.", { exact: false }).waitFor();
    await focused(page, "Edit");

    await tabTo(page, "More actions");
    await keyboard.press("Enter");
    await tabTo(page, "Rotate the secret");
    await keyboard.press("Enter");
    await tabTo(page, "Rotate");
    await keyboard.press("Enter");
    await page.getByText("The new secret, shown this once").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("Escape");

    await tabTo(page, "Block");
    await keyboard.press("Enter");
    await tabTo(page, "Block");
    await keyboard.press("Enter");
    await page.getByText("blocked", { exact: true }).waitFor();
    const { keys } = (await (await admin(gateway, "/key/list")).json()) as {
      readonly keys: readonly object[];
    };
    expect(keys).toMatchObject([
      { blocked: true, rpm_limit: 5, max_budget: 2, models: ["gpt-4o"] },
    ]);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 9: closes a dialog with Esc, and is back where it was", async () => {
    const { page } = visitor;
    await page.getByRole("button", { name: "Unblock" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await focused(page, "Unblock");
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: /^Search/ }).fill("hist");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "History" }).waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });
});

/** The accessible name of what has the focus, and whether the focus can be seen. */
function focusOf(page: Page): Promise<{ readonly name: string; readonly isSeen: boolean }> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement)) return { name: "", isSeen: false };
    const labels = "labels" in element ? (element as HTMLInputElement).labels : null;
    const name = element.ariaLabel ?? labels?.[0]?.textContent ?? element.textContent ?? "";
    const framed = element.closest(".combo-box") ?? element;
    const { outlineStyle, outlineWidth } = getComputedStyle(framed);
    return { name: name.trim(), isSeen: outlineStyle !== "none" && outlineWidth !== "0px" };
  });
}

/** Presses Tab until something of this name has the focus. Each stop on the way is seen. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let press = 0; press < MAX_TABS; press += 1) {
    await page.keyboard.press("Tab");
    const focus = await focusOf(page);
    const isPage = focus.name.length > 300;
    if (!isPage && !focus.isSeen) throw new Error(`The focus on ${focus.name} is not seen.`);
    if (focus.name === name) return;
  }
  throw new Error(`No Tab of ${MAX_TABS} reached ${name}.`);
}

async function focused(page: Page, name: string): Promise<void> {
  await expect.poll(async () => (await focusOf(page)).name).toBe(name);
}

/** The focus stays inside of an element however often Tab is pressed. */
async function stays(page: Page, selector: string): Promise<void> {
  const outside: string[] = [];
  for (let press = 0; press < MAX_TABS; press += 1) {
    await page.keyboard.press("Tab");
    const isInside = await page.evaluate((inside) => {
      const element = document.activeElement;
      return element === document.body || element?.closest(inside) !== null;
    }, selector);
    if (!isInside) outside.push((await focusOf(page)).name);
  }
  expect(outside).toEqual([]);
}
