/** Check 17: two people change the same record. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin } from "../system/support/client.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import { make, startStand, type Stand } from "./support/stand.ts";
import { visit } from "./support/visit.ts";

describe.skipIf(CHROMIUM === undefined)("two people change one key", () => {
  let stand: Stand;

  beforeAll(async () => {
    stand = await startStand();
  });

  afterAll(async () => {
    await stand?.[Symbol.asyncDispose]();
  });

  it("check 17: loses no field, and asks where both changed the same", async () => {
    const { gateway, site } = stand;
    const { token_id: id } = await make<{ readonly token_id: string }>(gateway, "/key/generate", {
      key_alias: "shared",
      rpm: 10,
      tpm: 1_000,
      max_budget: 1,
      budget_duration: "1mo",
    });
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    await visitor.signIn(gateway.masterKey);
    await visitor.open(`#/keys/${id}`, "shared");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Requests a minute").fill("30");
    await page.getByLabel("Budget", { exact: true }).fill("3");
    await make(gateway, "/key/update", { key: id, rpm: 20, tpm: 2_000, tags: ["theirs"] });

    await page.getByRole("button", { name: "Save" }).click();
    const clash = page.getByRole("region", { name: "Requests a minute" });
    await clash.getByText("Theirs", { exact: true }).waitFor();
    expect(await clash.locator("dd").allTextContents()).toEqual(["10", "20", "30"]);
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await clash.getByRole("button", { name: "Keep yours" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The key is changed.", { exact: false }).waitFor();
    const { info } = (await (await admin(gateway, `/key/info?key=${id}`)).json()) as {
      readonly info: object;
    };
    expect(info).toMatchObject({
      rpm_limit: 30,
      tpm_limit: 2_000,
      max_budget: 3,
      budget_duration: "1mo",
      tags: ["theirs"],
    });
    expect(visitor.unexpected()).toEqual([]);
  });
});
