/** Checks 15 and 20: a gateway that is away, slow, failing, older. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import { startStand, type Stand } from "./support/stand.ts";
import { visit } from "./support/visit.ts";

const SAID =
  /status of (?:401|404|503)|net::ERR_(?:EMPTY_RESPONSE|CONNECTION_REFUSED|CONNECTION_RESET|SOCKET_NOT_CONNECTED|FAILED)/;

describe.skipIf(CHROMIUM === undefined)("a gateway in trouble", () => {
  let stand: Stand;

  beforeAll(async () => {
    stand = await startStand();
  });

  afterAll(async () => {
    await stand?.[Symbol.asyncDispose]();
  });

  it("check 15: says that it is away, and goes on by itself", async () => {
    const { site, gateway } = stand;
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    visitor.allow(SAID);
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/keys", "Keys");
    await page.getByText("There are no keys yet").waitFor();
    await page.getByRole("button", { name: "New key" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("typed while it was there");
    await site.stop();
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("The gateway cannot be reached.", { exact: false }).first().waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe(
      "typed while it was there",
    );
    await site.start();
    await page.getByRole("button", { name: "Create key" }).click();
    await page.locator(".secret code").waitFor();
    const sent = site.requests.filter(({ path }) => path === "/key/generate");
    expect(sent).toHaveLength(1);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");

    await visitor.open("#/history", "History");
    await site.stop();
    await page.getByText("The gateway does not answer.", { exact: false }).waitFor();
    await site.start();
    await page
      .getByText("The gateway does not answer.", { exact: false })
      .waitFor({ state: "detached" });
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 15: shows a refusal of the gateway with the id of the request", async () => {
    const { site, gateway } = stand;
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    visitor.allow(SAID);
    await visitor.signIn(gateway.masterKey);
    site.intercept((path, _, response) => {
      if (!path.startsWith("/team/list")) return false;
      response.writeHead(503, { "content-type": "application/json", "x-request-id": "r-1" });
      response.end(JSON.stringify({ error: { message: "The store is away.", type: "x" } }));
      return true;
    });
    await visitor.open("#/teams", "Teams");
    const refusal = page.getByText("The store is away. Request r-1.");
    await refusal.waitFor();
    // In a narrow window the button stands below the text, which keeps its width.
    await page.setViewportSize({ width: 320, height: 720 });
    expect((await refusal.boundingBox())?.width).toBeGreaterThan(180);
    site.intercept(undefined);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("There are no teams yet").waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 15: a slow answer to a change is one change", async () => {
    const { site, gateway } = stand;
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/teams", "Teams");
    const held: (() => void)[] = [];
    site.hold((path) => path === "/team/new", held);
    await page.getByRole("button", { name: "New team" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("Slow team");
    const create = page.getByRole("button", { name: "Create team" });
    await create.click();
    await create.dispatchEvent("click");
    await page.getByLabel("Name", { exact: true }).press("Enter");
    site.hold(undefined, held);
    await page.getByRole("heading", { level: 1, name: "Slow team" }).waitFor();
    expect(site.requests.filter(({ path }) => path === "/team/new")).toHaveLength(1);
    expect(visitor.unexpected()).toEqual([]);
  });

  it.each([
    ["a proxy answers in its place", 502, "text/html", "<h1>Bad gateway</h1>"],
    ["the answer is cut", 200, "application/json", '{"team_id":"'],
    ["a page to sign in comes in its place", 200, "text/html", "<html>"],
  ])("check 15: says that a change may have happened where %s", async (_, status, type, body) => {
    const { site, gateway } = stand;
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    visitor.allow(/status of 502/);
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/teams", "Teams");
    await page.getByRole("button", { name: "New team" }).first().click();
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Lost team");
    site.intercept((path, __, response) => {
      if (path !== "/team/new") return false;
      response.writeHead(status, { "content-type": type }).end(body);
      return true;
    });
    await page.getByRole("button", { name: "Create team" }).click();
    await page
      .getByText("The change may have happened", { exact: false })
      .waitFor({ timeout: 4_000 });
    expect(await name.inputValue()).toBe("Lost team");
    await page.keyboard.press("Escape");
    site.intercept(undefined);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 20: an older gateway has screens that are off, and says so", async () => {
    const { site, gateway } = stand;
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    visitor.allow(SAID);
    site.intercept((path, _, response) => {
      if (!path.startsWith("/requests")) return false;
      response.writeHead(404, { "content-type": "application/json" });
      const message = "This path does not exist on the admin listener.";
      response.end(JSON.stringify({ error: { message, type: "not_found_error" } }));
      return true;
    });
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/requests", "Requests");
    await page.getByText("This gateway is older than the dashboard").waitFor();
    site.intercept(undefined);

    await page.route("**/ui/session", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as object;
      await route.fulfill({ response, json: { ...body, admin_api: 0 } });
    });
    await page.reload();
    await page.getByText(/older than the dashboard: \d+ screens are off/).waitFor();
    await page.getByText("The screen needs version 1 of the admin API").waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 20: a newer gateway's further members and actions change nothing", async () => {
    const { site, gateway } = stand;
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    await page.route("**/ui/session", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { readonly may?: readonly string[] };
      const may = [...(body.may ?? []), "moon.land"];
      await route.fulfill({ response, json: { ...body, may, admin_api: 7, more: { deep: [1] } } });
    });
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/keys", "Keys");
    await page.getByRole("button", { name: "New key" }).first().waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });
});
