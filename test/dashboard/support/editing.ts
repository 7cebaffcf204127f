/** Typing in the editor of the configuration, as an operator does. */

import type { Page } from "playwright-core";

/** The first line that holds a text. */
export function lineOf(page: Page, text: string) {
  return page.locator(".editor-place .cm-line", { hasText: text }).first();
}

/** Replaces a whole line by typing. */
export async function replaceLine(page: Page, line: string, by: string): Promise<void> {
  await page.locator(".editor-place .cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+f");
  const search = page.locator(".editor-place .cm-search input[name=search]");
  await search.fill("");
  await search.pressSequentially(line);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.keyboard.insertText(by);
}
