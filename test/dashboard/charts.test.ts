/** Check 11: charts have their numbers as a table, and are not read by colour alone. */

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "./support/chromium.ts";
import { type Seeded, sharedBrowser, sharedStand } from "./support/shared.ts";
import { visit } from "./support/visit.ts";

interface OverviewSeries {
  readonly step_s: number;
  readonly series: {
    readonly requests: readonly number[];
    readonly client_errors: readonly number[];
    readonly first_content_p50_ms: readonly (number | null)[];
  };
}

/** Contrast of graphics against their background: WCAG 2.2, 1.4.11. */
const MIN_CONTRAST = 3;

describe.skipIf(CHROMIUM === undefined)("charts", () => {
  let seeded: Seeded;

  beforeAll(async () => {
    seeded = await sharedStand();
  });

  it("check 11: each has a table with the numbers of the route", async () => {
    await using visitor = await visit(await sharedBrowser(), seeded.stand.site);
    const { page } = visitor;
    let answer: OverviewSeries | undefined;
    // The first answer is every answer: what is compared does not move on.
    await page.route(/\/overview\?/, async (route) => {
      if (answer === undefined) answer = (await (await route.fetch()).json()) as OverviewSeries;
      await route.fulfill({ json: answer });
    });
    await visitor.signIn(seeded.stand.gateway.masterKey);
    await visitor.open("#/overview?window=15m", "Overview");
    await page.locator("figure.chart").nth(3).waitFor();
    for (const one of await page.getByText("Numbers", { exact: true }).all()) await one.click();
    const { series, step_s: step } = answer as unknown as OverviewSeries;
    const rates = (of: readonly number[]): readonly number[] =>
      of.map((count) => Number((count / step).toFixed(2)));
    expect(await columnOf(page, "Requests a second", "All")).toEqual(rates(series.requests));
    expect(await columnOf(page, "Requests a second", "Client's errors")).toEqual(
      rates(series.client_errors),
    );
    const times = await columnOf(page, "Time to first content", "p50");
    expect(times.map((ms) => ms === undefined)).toEqual(
      series.first_content_p50_ms.map((ms) => ms === null),
    );
    for (const chart of await page.locator("figure.chart").all()) {
      const heads = await chart.locator("thead th.num").allTextContents();
      const names = await chart.locator(".legend > li").allTextContents();
      expect(heads).toEqual(names.map((name) => name.trim()));
    }
    expect(visitor.unexpected()).toEqual([]);
  });

  it.each(["light", "dark"] as const)(
    "check 11: in the theme %s lines differ by more than colour, and pass 3:1",
    async (colorScheme) => {
      await using visitor = await visit(await sharedBrowser(), seeded.stand.site, { colorScheme });
      const { page } = visitor;
      await visitor.signIn(seeded.stand.gateway.masterKey);
      await visitor.open("#/overview?window=15m", "Overview");
      await page.locator("figure.chart").nth(3).waitFor();
      const charts = await page.evaluate(() => {
        const context = document.createElement("canvas").getContext("2d", {
          willReadFrequently: true,
        });
        const luminance = (colour: string): number => {
          if (context === null) return Number.NaN;
          context.fillStyle = colour;
          context.fillRect(0, 0, 1, 1);
          const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
          const linear = (value: number): number => {
            const part = value / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
          };
          return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
        };
        const contrast = (one: number, other: number): number =>
          (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        return [...document.querySelectorAll("figure.chart")].map((chart) => {
          const panel = chart.closest(".panel") ?? chart;
          const surface = luminance(getComputedStyle(panel).backgroundColor);
          return [...chart.querySelectorAll(".swatch")].map((swatch) => {
            const { borderTopColor, borderTopStyle } = getComputedStyle(swatch);
            return { style: borderTopStyle, ratio: contrast(luminance(borderTopColor), surface) };
          });
        });
      });
      expect(charts.length).toBeGreaterThanOrEqual(4);
      for (const swatches of charts) {
        expect(new Set(swatches.map(({ style }) => style)).size).toBe(swatches.length);
        expect(Math.min(...swatches.map(({ ratio }) => ratio))).toBeGreaterThanOrEqual(
          MIN_CONTRAST,
        );
      }
      expect(visitor.unexpected()).toEqual([]);
    },
  );
});

/** A column of a chart's table, the oldest first; `undefined` where it has no value. */
async function columnOf(
  page: Page,
  chart: string,
  column: string,
): Promise<readonly (number | undefined)[]> {
  const table = page.getByRole("table", { name: chart, exact: true });
  const heads = await table.locator("thead th").allTextContents();
  const at = heads.indexOf(column);
  const cells = await table.locator(`tbody tr > :nth-child(${at + 1})`).allTextContents();
  return cells
    .toReversed()
    .map((text) => (text === "–" ? undefined : Number(text.replace(/[^\d.]/g, ""))));
}
