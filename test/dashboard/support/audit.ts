/** What axe-core finds on a page: WCAG 2.2 at the levels A and AA. */

import axe from "axe-core";
import type { Page } from "playwright-core";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Violations, each as `rule: element`: of all rules, or of one. */
export async function violationsOf(page: Page, rule = "all"): Promise<readonly string[]> {
  // Evaluated by the debugger, which the policy of the page does not bind.
  await page.evaluate(axe.source);
  return page.evaluate(async (runOnly) => {
    const { axe: loaded } = window as unknown as { readonly axe: typeof axe };
    const { violations } = await loaded.run(document, {
      runOnly,
      resultTypes: ["violations"],
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
    );
  }, runOnlyOf(rule));
}

function runOnlyOf(rule: string): axe.RunOnly {
  return rule === "all" ? { type: "tag", values: TAGS } : { type: "rule", values: [rule] };
}

/** How far the page can be scrolled sideways, in pixels, and by what. */
export function sidewaysOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isWide = (element: Element): boolean =>
      element.getBoundingClientRect().right > clientWidth + 1 &&
      element.closest(".table-box, .diff, .tabs") === null;
    return [...document.querySelectorAll("body *")]
      .filter(isWide)
      .slice(0, 5)
      .map((element) => `${scrollWidth - clientWidth} px: ${element.outerHTML.slice(0, 120)}`);
  });
}

/** What stands outside of its place: dialogs that scroll as a whole, and texts over their box. */
export function misplacedOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const nameOf = (element: Element): string => element.outerHTML.slice(0, 120);
    const dialogs = [...document.querySelectorAll("dialog[open]")]
      .filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)
      .map((dialog) => `scrolls with its head and foot: ${nameOf(dialog)}`);
    const isOver = (element: Element): boolean =>
      element.scrollWidth > element.clientWidth + 1 &&
      getComputedStyle(element).overflowX === "visible";
    const texts = [...document.querySelectorAll("main .row, main .lines, main dd, main p")]
      .filter((element) => element.checkVisibility() && isOver(element))
      .map((element) => `wider than its box: ${nameOf(element)}`);
    return [...dialogs, ...texts].slice(0, 5);
  });
}
