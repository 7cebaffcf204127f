/** The screen System: checks are run when they are asked for, and show what the route answers. */

import { beforeAll, describe, expect, it } from "vitest";
import type { AdminAnswer } from "@sluice/admin-api";
import { admin } from "../system/support/client.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { type Seeded, sharedBrowser, sharedStand } from "./support/shared.ts";
import { visit } from "./support/visit.ts";

describe.skipIf(CHROMIUM === undefined)("the screen System", () => {
  let seeded: Seeded;

  beforeAll(async () => {
    seeded = await sharedStand();
  });

  it("runs the checks of the doctor when a button is pressed, and not before", async () => {
    const { stand } = seeded;
    await using visitor = await visit(await sharedBrowser(), stand.site);
    const { page } = visitor;
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.endsWith("/system/checks")) asked.push(search);
    });
    await visitor.signIn(stand.gateway.masterKey);
    await visitor.open("#/system", "System");
    const panel = page.getByRole("region", { name: "Checks", exact: true }).first();
    await panel.getByText("Machine, data folder", { exact: false }).waitFor();
    expect(asked).toEqual([]);
    await panel.getByRole("button", { name: "Look now" }).click();
    await panel.getByRole("rowheader", { name: "provider openai" }).waitFor();
    expect(asked).toEqual([""]);
    const answer = await admin(stand.gateway, "/system/checks");
    const { checks } = (await answer.json()) as AdminAnswer<"GET /system/checks">;
    expect(await panel.locator("tbody th").allTextContents()).toEqual(
      checks.map(({ name }) => name),
    );
    await panel.getByRole("button", { name: "Ask the providers too" }).click();
    await panel.getByText("answers in", { exact: false }).first().waitFor();
    expect(asked).toEqual(["", "?online=true"]);
    expect(visitor.unexpected()).toEqual([]);
  });
});
