/** One change of several keys: selected with the keyboard, and what became of each. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin } from "../system/support/client.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import { make, startStand, type Stand } from "./support/stand.ts";
import { visit } from "./support/visit.ts";

describe.skipIf(CHROMIUM === undefined)("several keys at once", () => {
  let stand: Stand;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    stand = await startStand();
    for (const alias of ["one", "two", "three"]) {
      const { token_id: id } = await make<{ readonly token_id: string }>(
        stand.gateway,
        "/key/generate",
        { key_alias: alias, max_budget: 3 },
      );
      ids.set(alias, id);
    }
  }, 120_000);

  afterAll(async () => stand?.[Symbol.asyncDispose]());

  const infoOf = async (alias: string): Promise<Readonly<Record<string, unknown>>> => {
    const response = await admin(stand.gateway, `/key/info?key=${ids.get(alias)}`);
    return ((await response.json()) as { info: Record<string, unknown> }).info;
  };

  it("are blocked and get limits; a key that is gone is named", async () => {
    await using visitor = await visit(await sharedBrowser(), stand.site);
    const { page } = visitor;
    await visitor.signIn(stand.gateway.masterKey);
    await visitor.open("#/keys", "Keys");
    for (const alias of ["one", "two"]) {
      await page.getByRole("checkbox", { name: `Select ${alias}`, exact: true }).focus();
      await page.keyboard.press("Space");
    }
    await page.getByText("2 selected").waitFor();
    const bar = page.getByRole("group", { name: "Selected keys" });
    await bar.getByRole("button", { name: "Block", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Block", exact: true }).click();
    await page.getByText("2 keys changed.").waitFor();
    const blocked = await Promise.all([...ids.keys()].map(async (alias) => infoOf(alias)));
    expect(blocked.map((info) => info["blocked"])).toEqual([true, true, false]);

    for (const alias of ["two", "three"])
      await page.getByRole("checkbox", { name: `Select ${alias}`, exact: true }).check();
    await bar.getByRole("button", { name: "Change limits" }).click();
    const dialog = page.getByRole("dialog");
    const change = dialog.getByRole("button", { name: "Change", exact: true });
    await change.click();
    await dialog.getByText("Type at least one limit.").waitFor();
    await dialog.getByLabel("Budget").fill("1,5");
    await change.click();
    await dialog.getByText("Not a number from 0", { exact: false }).waitFor();
    expect((await infoOf("two"))["max_budget"]).toBe(3);
    await dialog.getByLabel("Budget").fill("");
    await dialog.getByLabel("Requests a minute").fill("7");
    await make(stand.gateway, "/key/delete", { keys: [ids.get("three")] });
    await change.click();
    await page.getByRole("dialog", { name: "1 key not changed" }).getByText("missing").waitFor();
    expect(await infoOf("two")).toMatchObject({ rpm_limit: 7, max_budget: 3 });
    expect(visitor.unexpected()).toEqual([]);
  });
});
