/** Checks 5 and 7: texts of clients, models and upstreams are texts. */

import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat } from "../system/support/client.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import { make, startStand, type Stand } from "./support/stand.ts";
import { visit } from "./support/visit.ts";

const HOSTILE = [
  `<img src="https://evil.test/a.png" onerror="alert(1)">`,
  `"><script>alert(2)</script>`,
  `![](https://evil.test/?q=3)`,
  `javascript:alert(4)`,
  `{{constructor.constructor("alert(5)")()}}`,
  `</title><svg onload=alert(6)>`,
  `‮txt.exe`,
] as const;

describe.skipIf(CHROMIUM === undefined)("hostile texts", () => {
  let stand: Stand;

  beforeAll(async () => {
    stand = await startStand();
  });

  afterAll(async () => {
    await stand?.[Symbol.asyncDispose]();
  });

  it("check 5: are shown as they are, and load and run nothing", async () => {
    const { gateway, site, upstream } = stand;
    await make(gateway, "/team/new", { team_id: "t", team_alias: HOSTILE[0] });
    const made = await Promise.all(
      HOSTILE.map((text, index) =>
        make<{ readonly key: string; readonly token_id: string }>(gateway, "/key/generate", {
          key_alias: text,
          team_id: "t",
          user_id: index === 1 ? HOSTILE[1] : null,
          tags: [text],
          metadata: { note: text },
        }),
      ),
    );
    upstream.script({ kind: "error", status: 400, message: HOSTILE[1], code: HOSTILE[0] });
    const authorization = `Bearer ${made[0]?.key}`;
    for (const model of ["gpt-4o", HOSTILE[1]])
      await (
        await chat(
          gateway,
          { model, messages: [{ role: "user", content: HOSTILE[2] }] },
          { headers: { authorization } },
        )
      ).text();
    const file = gateway.workspace.config({});
    gateway.workspace.write(`${file}\n${HOSTILE[0]}: 1\n`);

    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => dialogs.push(dialog.message()));
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/keys", "Keys");
    for (const text of HOSTILE) await page.getByText(text, { exact: true }).first().waitFor();
    for (const { token_id: id } of made.slice(0, 2)) {
      await visitor.open(`#/keys/${id}`, /./);
      await page.getByText("What it is").waitFor();
    }
    await visitor.open("#/keys", "Keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name", { exact: true }).fill(`reversed ${HOSTILE[6]}`);
    await page.getByRole("button", { name: "Create key" }).click();
    expect(await leftsBehind(page.getByRole("dialog").locator("p strong"))).toEqual([true, true]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await visitor.open("#/teams/t", HOSTILE[0]);
    await visitor.open("#/requests", "Requests");
    await page
      .getByRole("link", { name: /\d\d:\d\d:\d\d/ })
      .first()
      .click();
    await page.getByText("Upstream calls").first().waitFor();
    await visitor.open("#/history", "History");
    await page.getByText("The last edit was refused").waitFor();
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: /^Search/ }).fill("<img");
    await page.getByRole("option", { name: HOSTILE[0] }).first().waitFor();
    await page.goto(`${site.url}#/${encodeURIComponent(HOSTILE[0])}/x?search=${HOSTILE[1]}`);
    await page.getByText("There is no such screen").waitFor();
    expect(dialogs).toEqual([]);
    expect(visitor.unexpected()).toEqual([]);
  });
});

/** Whether the first characters behind a name stand from left to right, as they are read. */
function leftsBehind(name: Locator): Promise<readonly boolean[]> {
  return name.evaluate(({ nextSibling: text }) => {
    if (text === null) throw new Error("Nothing stands behind the name.");
    const leftOf = (at: number): number => {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect().left;
    };
    return [leftOf(2) < leftOf(3), leftOf(3) < leftOf(4)];
  });
}
