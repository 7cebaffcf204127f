import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, MESSAGES } from "../system/support/client.ts";
import { eventually } from "../system/support/eventually.ts";
import { runCommand } from "../system/support/gateway-process.ts";
import { CHROMIUM, launchChromium } from "./support/chromium.ts";
import { startStand, type Stand } from "./support/stand.ts";
import { type Visit, visit } from "./support/visit.ts";

describe.skipIf(CHROMIUM === undefined)("keys in the dashboard", () => {
  let browser: Browser;
  let stand: Stand;
  let visitor: Visit;

  beforeAll(async () => {
    [browser, stand] = await Promise.all([launchChromium(), startStand({ logLevel: "info" })]);
    visitor = await visit(browser, stand.site, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
  });

  afterAll(async () => {
    await browser?.close();
    await stand?.[Symbol.asyncDispose]();
  });

  it("check 1: makes a key that is shown once, and left nowhere", async () => {
    const { page } = visitor;
    const { gateway } = stand;
    const command = runCommand(
      ["ui", "--no-open", "--admin-url", stand.site.url.replace("/ui/", "")],
      gateway.workspace.folder,
    );
    await command.ended;
    const [address = ""] = /http:\S+#in=\S+/.exec(command.stdout) ?? [];
    await page.goto(address);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(page.url()).not.toContain("in=");
    await visitor.open("#/keys", "Keys");
    await page.getByText("There are no keys yet").waitFor();
    await page.getByRole("button", { name: "New key" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("laptop");
    await page.getByLabel("Budget", { exact: true }).fill("5");
    await page.getByLabel("Starts anew").selectOption("1mo");
    await page.getByRole("button", { name: "Create key" }).click();
    const shown = page.locator(".secret code");
    const secret = (await shown.textContent()) ?? "";
    expect(secret).toMatch(/^sk-/);
    const html = async (): Promise<string> => page.content();
    expect((await html()).split(secret)).toHaveLength(2);
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    await page.keyboard.press("Escape");
    await page.getByText("Is the key in a safe place?").waitFor();
    await page.getByRole("button", { name: "It is stored: close" }).click();
    await page.getByRole("heading", { level: 1, name: "laptop" }).waitFor();

    expect(await html()).not.toContain(secret);
    const kept = await page.evaluate(async () =>
      JSON.stringify([
        { ...localStorage },
        { ...sessionStorage },
        location.href,
        history.state,
        document.cookie,
        await caches.keys(),
      ]),
    );
    expect(kept).not.toContain(secret);
    expect(gateway.stdout + gateway.stderr).not.toContain(secret);
    expect(await (await admin(gateway, "/audit")).text()).not.toContain(secret);

    const headers = { authorization: `Bearer ${secret}` };
    const answer = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES }, { headers });
    expect(answer.status).toBe(200);
    await page.getByRole("row", { name: /200/ }).waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });

  it("changes a key, blocks it and deletes it, and each is one request", async () => {
    const { page } = visitor;
    const { gateway, site } = stand;
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Requests a minute").fill("many");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Not a number from 0, such as 1250.").waitFor();
    await page.getByLabel("Requests a minute").fill("60");
    await page.getByRole("button", { name: "Save" }).dblclick();
    await page.getByText("The key is changed.").waitFor();
    await page.getByText("60", { exact: true }).waitFor();
    expect(site.requests.filter(({ path }) => path === "/key/update")).toHaveLength(1);

    await page.getByRole("button", { name: "Edit" }).click();
    const expires = page.getByLabel("Expires");
    await expires.fill("2031-05-06T07:08");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit" }).click();
    // A time without its hour has no value, as an empty field, and means something else.
    await expires.focus();
    for (let part = 0; part < 3; part += 1) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Delete");
    expect(await expires.inputValue()).toBe("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Not a whole date and time.").waitFor();
    await page.keyboard.press("Escape");
    await page
      .getByText("6 May 2031", { exact: false })
      .or(page.getByTitle(/6 May 2031/))
      .waitFor();

    await page.getByRole("button", { name: "Block" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Block" }).click();
    await page.getByText("blocked", { exact: true }).waitFor();
    const { keys } = (await (await admin(gateway, "/key/list")).json()) as {
      readonly keys: readonly { readonly blocked: boolean; readonly rpm_limit: number }[];
    };
    expect(keys).toMatchObject([{ blocked: true, rpm_limit: 60, max_budget: 5 }]);

    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("There are no keys yet").waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 15: keeps what was typed when the session ends, and goes on", async () => {
    const { page } = visitor;
    await page.getByRole("button", { name: "New key" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("typed before");
    await page.context().clearCookies();
    visitor.allow(/status of 401/);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("Your session has ended").waitFor();
    await page.getByLabel("Key", { exact: true }).fill(stand.gateway.masterKey);
    await page.getByRole("button", { name: "Sign in" }).click();
    await eventually("the form to be there", async () => {
      const name = page.getByLabel("Name", { exact: true });
      return (await name.inputValue()) === "typed before";
    });
    await page.getByRole("button", { name: "Create key" }).click();
    await page.locator(".secret code").waitFor();

    // Going back asks too, and the browser asks before it leaves the page.
    await page.goBack();
    await page.getByText("Is the key in a safe place?").waitFor();
    expect(await page.locator(".secret code").textContent()).toMatch(/^sk-/);
    const leaves = (): Promise<boolean> =>
      page.evaluate(() => dispatchEvent(new Event("beforeunload", { cancelable: true })));
    expect(await leaves()).toBe(false);
    await page.getByRole("button", { name: "It is stored: close" }).click();
    await page.getByRole("heading", { level: 1, name: "typed before" }).waitFor();
    expect(await leaves()).toBe(true);
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });
});
