/** Checks 12 and 13: many keys and rows are one request a step, and few rows in the page. */

import type { Page } from "playwright-core";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import { make, startStand, type Stand } from "./support/stand.ts";
import { type PastRow, storeRows } from "./support/stored-rows.ts";
import { type Visit, visit } from "./support/visit.ts";

const KEYS = 10_000;
const ROWS = 5_000;
const MAX_BYTES = 64 * 1_024;
const MAX_TABLE_ROWS = 200;
const DAY_MS = 86_400_000;

describe.skipIf(CHROMIUM === undefined)("many keys and rows", () => {
  let stand: Stand;
  let visitor: Visit;
  let page: Page;

  beforeAll(async () => {
    stand = await startStand({
      prepare: ({ dataDirectory }) => storeRows(dataDirectory, rowsOf90Days()),
    });
    await make(stand.gateway, "/team/new", { team_id: "even" });
    insertKeys(join(stand.gateway.workspace.dataDirectory, "sluice.db"));
    visitor = await visit(await sharedBrowser(), stand.site);
    ({ page } = visitor);
    await visitor.signIn(stand.gateway.masterKey);
  });

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]();
    await stand?.[Symbol.asyncDispose]();
  });

  /** Asks of the listener that a step makes for a path, and the largest answer. */
  const during = async (path: RegExp, step: () => Promise<void>): Promise<number> => {
    const sizes: number[] = [];
    const seen: Promise<void>[] = [];
    const onResponse = (response: Awaited<ReturnType<Page["waitForResponse"]>>): void => {
      if (!path.test(new URL(response.url()).pathname) || response.status() === 304) return;
      seen.push(response.body().then((body) => void sizes.push(body.length)));
    };
    page.on("response", onResponse);
    await step();
    page.off("response", onResponse);
    await Promise.all(seen);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_BYTES);
    expect(await page.locator("tbody tr").count()).toBeLessThanOrEqual(MAX_TABLE_ROWS);
    return sizes.length;
  };
  const showsKey = (name: string) => page.getByRole("link", { name, exact: true }).waitFor();

  it("check 12: opening, searching, sorting, a next page and a filter are one request each", async () => {
    const counts = [
      await during(/\/key\/list$/, async () => {
        await visitor.open("#/keys", "Keys");
        await showsKey("service-9999");
      }),
      await during(/\/key\/list$/, async () => {
        await page.getByRole("button", { name: "Next" }).click();
        await page.getByRole("link", { name: "service-9999", exact: true }).waitFor({
          state: "detached",
        });
        await page
          .getByRole("link", { name: /^service-99\d\d$/ })
          .first()
          .waitFor();
      }),
      await during(/\/key\/list$/, async () => {
        await page.evaluate(() => (location.hash = "#/keys?search=service-777"));
        await showsKey("service-7770");
      }),
      await during(/\/key\/list$/, async () => {
        await page.evaluate(() => (location.hash = "#/keys?sort=oldest"));
        await showsKey("service-0");
      }),
      await during(/\/key\/list$/, async () => {
        await page.evaluate(() => (location.hash = "#/keys?team_id=even"));
        await showsKey("service-9998");
      }),
    ];
    expect(counts).toEqual([1, 1, 1, 1, 1]);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 13: Requests are one request, and Spend of 90 days is one with all of its parts", async () => {
    const requests = await during(/\/requests$/, async () => {
      await visitor.open("#/requests?status=failed", "Requests");
      await page
        .getByRole("row", { name: /upstream_overloaded/ })
        .first()
        .waitFor();
    });
    expect(requests).toBe(1);
    const reports = await during(/\/spend\/\w+$/, async () => {
      await visitor.open("#/spend?by=key&period=90d", "Spend");
      await page
        .getByRole("row", { name: /service-7/ })
        .first()
        .waitFor();
      await page.locator("figure.chart").waitFor();
    });
    expect(reports).toBe(1);
    // A filter is one more, for the chart and the table.
    const narrowed = await during(/\/spend\/\w+$/, async () => {
      await page.evaluate(
        () => (location.hash = "#/spend?by=model&period=90d&api_key=key_service-7"),
      );
      await page.getByRole("row", { name: /gpt-4o/ }).waitFor();
    });
    expect(narrowed).toBe(1);
    expect(visitor.unexpected()).toEqual([]);
  });
});

function* rowsOf90Days(): Generator<PastRow> {
  for (let index = 0; index < ROWS; index += 1)
    yield {
      index,
      atMs: Math.floor(Date.now() - 89 * DAY_MS + (index * 88 * DAY_MS) / ROWS),
      key: `service-${index % 40}`,
      team: null,
      model: "gpt-4o",
      dollars: 0.01,
      isFailed: index % 50 === 0,
    };
}

function insertKeys(file: string): void {
  const database = new DatabaseSync(file, { timeout: 20_000 });
  database.exec("begin immediate");
  const insert = database.prepare(
    `insert into virtual_key (id, digest, last4, alias, team_id, models, tags, metadata, guardrails, blocked, created_at_ms)
     values (?, ?, ?, ?, ?, '[]', '[]', '{}', '[]', 0, ?)`,
  );
  const beganMs = Date.now() - KEYS;
  for (let index = 0; index < KEYS; index += 1) {
    const digest = createHash("sha256").update(String(index)).digest("hex");
    const team = index % 2 === 0 ? "even" : null;
    insert.run(
      `key_${digest.slice(0, 12)}`,
      digest,
      digest.slice(-4),
      `service-${index}`,
      team,
      beganMs + index,
    );
  }
  database.exec("commit");
  database.close();
}
