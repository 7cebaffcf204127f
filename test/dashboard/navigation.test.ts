/** Checks 19, 25 and the search: places, links, proxies. */

import { beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "./support/chromium.ts";
import { type Seeded, sharedBrowser, sharedStand } from "./support/shared.ts";
import { serveDashboard } from "./support/site.ts";
import { make } from "./support/stand.ts";
import { visit } from "./support/visit.ts";

describe.skipIf(CHROMIUM === undefined)("places in the dashboard", () => {
  let seeded: Seeded;

  beforeAll(async () => {
    seeded = await sharedStand();
  });

  it("check 25: back, forward, a reload and a copied link show the same view", async () => {
    const { site, gateway } = seeded.stand;
    const browser = await sharedBrowser();
    await using visitor = await visit(browser, site);
    const { page } = visitor;
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/keys", "Keys");
    await page.getByPlaceholder("Search by name, id or user").fill("support");
    await page.getByText("2 keys").waitFor();
    await page.getByRole("combobox", { name: "State" }).selectOption("active");
    await page.waitForURL(/search=support&status=active/);
    await page.getByRole("link", { name: "support-desk" }).click();
    await page.getByRole("heading", { level: 1, name: "support-desk" }).waitFor();
    await page.goBack();
    await page.getByText("2 keys").waitFor();
    expect(await page.getByPlaceholder("Search by name, id or user").inputValue()).toBe("support");
    await page.goForward();
    await page.getByRole("heading", { level: 1, name: "support-desk" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "support-desk" }).waitFor();

    await page.goBack();
    await page.getByText("2 keys").waitFor();
    const link = page.url();
    await using other = await visit(browser, site);
    await other.page.goto(link);
    await other.page.getByLabel("Key", { exact: true }).fill(gateway.masterKey);
    await other.page.getByRole("button", { name: "Sign in" }).click();
    await other.page.getByText("2 keys").waitFor();
    expect(other.page.url()).toBe(link);
    expect(await other.page.getByRole("combobox", { name: "State" }).inputValue()).toBe("active");
    // Nothing of a view is in what a server or a proxy logs.
    const logged = site.requests.filter(
      ({ path }) => path.startsWith("/ui/") && path.includes("?"),
    );
    expect(logged).toEqual([]);
    expect([...visitor.unexpected(), ...other.unexpected()]).toEqual([]);
  });

  it("check 25: an answer that comes before the first paint is shown", async () => {
    await using visitor = await visit(await sharedBrowser(), seeded.stand.site);
    const { page } = visitor;
    await page.addInitScript(() => {
      const later = window.setTimeout.bind(window);
      const late = (run: TimerHandler): number => later(run, 1_000);
      Object.assign(window, { setTimeout: late, requestAnimationFrame: late });
    });
    await page.goto(seeded.stand.site.url);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 25: a tab that slept signs in and is where it was", async () => {
    const { site, gateway } = seeded.stand;
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/teams/support", "Customer support");
    visitor.allow(/status of 401/);
    await page.context().clearCookies();
    await page.getByText("Your session has ended").waitFor();
    await page.getByLabel("Key", { exact: true }).fill(gateway.masterKey);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Your session has ended").waitFor({ state: "detached" });
    expect(new URL(page.url()).hash).toBe("#/teams/support");
    expect(visitor.unexpected()).toEqual([]);
  });

  it("opens the search with a key that comes right after another screen", async () => {
    await using visitor = await visit(await sharedBrowser(), seeded.stand.site);
    const { page } = visitor;
    await visitor.signIn(seeded.stand.gateway.masterKey);
    await visitor.open("#/keys", "Keys");
    await page.evaluate(async () => {
      location.hash = "#/teams";
      await new Promise((done) => addEventListener("hashchange", done, { once: true }));
      // The screen is drawn, and not painted yet.
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)));
    });
    expect(await page.getByRole("combobox", { name: /^Search/ }).count()).toBe(1);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("closes the list of screens of a narrow window behind each choice", async () => {
    await using visitor = await visit(await sharedBrowser(), seeded.stand.site, {
      viewport: { width: 320, height: 720 },
    });
    const { page } = visitor;
    await visitor.signIn(seeded.stand.gateway.masterKey);
    await visitor.open("#/keys?search=support", "Keys");
    const choose = async (screen: string): Promise<void> => {
      await page.getByRole("button", { name: "Screens" }).click();
      await page.getByRole("dialog").getByRole("link", { name: screen, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: screen }).waitFor();
      await page.getByRole("dialog").waitFor({ state: "detached", timeout: 3_000 });
    };
    await choose("Keys");
    await page.waitForURL((url) => url.hash === "#/keys");
    await choose("Teams");
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe("main");
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 19: behind a proxy with a prefix, every request has it", async () => {
    const { gateway } = seeded.stand;
    const site = await serveDashboard(gateway.adminUrl, "/a/b");
    try {
      await using visitor = await visit(await sharedBrowser(), site);
      await visitor.signIn(gateway.masterKey);
      for (const [fragment, heading] of [
        ["#/keys", "Keys"],
        ["#/history", "History"],
        ["#/users/svc-indexer", "Indexer"],
      ] as const)
        await visitor.open(fragment, heading);
      await visitor.page.getByText("of the whole gateway").waitFor();
      expect(new URL(visitor.page.url()).pathname).toBe("/a/b/ui/");
      expect(visitor.unexpected()).toEqual([]);
    } finally {
      await site.close();
    }
  });

  it("shows each role what it may see, by leaving out", async () => {
    const { site, gateway } = seeded.stand;
    await make(gateway, "/user/new", {
      user_id: "vera@example.com",
      roles: [{ role: "viewer", at: "whole" }],
    });
    const key = await adminKeyOf(seeded, "vera@example.com");
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    await visitor.signIn(key);
    await visitor.open("#/keys", "Keys");
    await page.getByRole("link", { name: "support-bot" }).click();
    await page.getByText("What it is").waitFor();
    expect(await page.getByRole("button", { name: /Edit|Block|More actions/ }).count()).toBe(0);
    await visitor.open("#/history", "History");
    await page.getByText("Timeline").waitFor();
    expect(await page.getByRole("button", { name: /Roll back|Apply/ }).count()).toBe(0);
    expect(gateway.stderr).not.toContain(key);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("offers a change of keys and members of the teams of a role alone", async () => {
    const { site, gateway } = seeded.stand;
    await make(gateway, "/user/new", {
      user_id: "tom@example.com",
      roles: [
        { role: "viewer", at: "whole" },
        { role: "keys", at: "team", team_id: "support" },
      ],
    });
    await using visitor = await visit(await sharedBrowser(), site);
    await visitor.signIn(await adminKeyOf(seeded, "tom@example.com"));
    const { page } = visitor;
    const offered = async (team: string, member: string): Promise<number> => {
      await visitor.open(`#/teams/${team}`, /./);
      await page.getByRole("link", { name: member }).last().waitFor();
      const buttons = page.getByRole("button", { name: /member|^Edit|^Remove|^Block/ });
      return buttons.or(page.getByRole("link", { name: "New key" })).count();
    };
    expect(await offered("search", "svc-indexer")).toBe(0);
    expect(await offered("support", "ann@example.com")).toBe(6);
    expect(visitor.unexpected()).toEqual([]);
  });
});

async function adminKeyOf({ stand }: Seeded, user: string): Promise<string> {
  const { key } = await make<{ readonly key: string }>(stand.gateway, "/key/generate", {
    user_id: user,
    admin: true,
  });
  return key;
}
