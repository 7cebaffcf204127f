/** Every screen with something on it, by a name for its screenshot. */

import type { Page } from "playwright-core";
import { chat } from "../../system/support/client.ts";
import type { Seeded } from "./shared.ts";
import type { Stand } from "./stand.ts";

/** A state of the dashboard to look at. */
export interface Look {
  readonly name: string;
  readonly fragment: string;
  /** Something that is there when the screen is complete. */
  readonly ready: (page: Page) => Promise<void>;
  /** Opens a dialog, a menu, a folded part. */
  readonly act?: (page: Page) => Promise<void>;
}

function text(what: string | RegExp): Look["ready"] {
  return (page) => page.getByText(what).first().waitFor();
}

function press(name: string | RegExp): NonNullable<Look["act"]> {
  return (page) => page.getByRole("button", { name }).first().click();
}

/**
 * A key was used a moment ago: its bars are not empty. One request: those of the seed stay on the
 * first page of Requests in every window.
 */
function inUse({ gateway }: Stand, key: { readonly key: string } | undefined): Look["ready"] {
  return async (page) => {
    const messages = [{ role: "user", content: "Where is my refund?" }];
    const headers = { authorization: `Bearer ${key?.key}` };
    await (await chat(gateway, { model: "gpt-4o-mini", messages }, { headers })).text();
    const panel = page.getByRole("region", { name: "Use of the last minute" });
    await panel
      .getByText(/^[1-9]/)
      .first()
      .waitFor();
  };
}

/** All of them. */
export function looksOf({ stand, keys, requests }: Seeded): readonly Look[] {
  const key = `#/keys/${keys.get("support-bot")?.token_id}`;
  return [
    { name: "requests", fragment: "#/requests", ready: text("budget_exceeded") },
    {
      name: "trace",
      fragment: `#/requests/${requests.get("fallback")}`,
      ready: text("Upstream calls"),
    },
    {
      name: "overview",
      fragment: "#/overview?window=15m",
      ready: text("Budgets nearly used"),
    },
    { name: "models", fragment: "#/models", ready: text("general: gpt-4o-mini") },
    { name: "deployments", fragment: "#/models/deployments", ready: text("Tokens a minute") },
    {
      name: "deployment",
      fragment: `#/models/${encodeURIComponent("openai/gpt-4.1-mini")}`,
      ready: text("Last events"),
    },
    {
      name: "guardrails",
      fragment: "#/guardrails",
      ready: text(/requests? checked|No guardrail checks/),
    },
    {
      name: "playground",
      fragment: "#/playground",
      ready: text("Stream the reply"),
      act: async (page) => {
        await page.getByRole("combobox", { name: "As key" }).fill("master");
        await page.getByRole("combobox", { name: "Model", exact: true }).fill("gpt-4o-mini");
        await page.getByLabel("User, message 1").fill("What is a sluice?");
        await press("Send")(page);
        await page.getByText("Upstream calls").first().waitFor();
      },
    },
    { name: "pipelines", fragment: "#/pipelines", ready: text("What protects each route") },
    { name: "spend", fragment: "#/spend?by=team&period=7d", ready: text("support") },
    { name: "processes", fragment: "#/system", ready: text("Waiting for a restart") },
    {
      name: "checks",
      fragment: "#/system",
      ready: text("Waiting for a restart"),
      act: async (page) => {
        await press("Look now")(page);
        const checks = page.getByRole("region", { name: "Checks" }).first();
        await checks.getByRole("rowheader", { name: "provider openai" }).waitFor();
        await checks.scrollIntoViewIfNeeded();
        // A picture shows no folder of the machine that it is made on.
        const folder = checks.getByRole("row", { name: "data folder" }).getByRole("cell").last();
        await folder.evaluate((cell) => (cell.textContent = "/var/lib/sluice"));
      },
    },
    { name: "sessions", fragment: "#/system/sessions", ready: text("this one") },
    { name: "audit", fragment: "#/system/audit", ready: text("key.create") },
    { name: "keys", fragment: "#/keys", ready: text("support-bot") },
    {
      name: "keys-none",
      fragment: "#/keys?search=nothing-like-this",
      ready: text("No key matches"),
    },
    {
      name: "key-new",
      fragment: "#/keys",
      ready: text("support-bot"),
      act: async (page) => {
        await press("New key")(page);
        await page.getByText("More fields").click();
        await page.getByText("As a command").click();
      },
    },
    { name: "key", fragment: key, ready: text("What it is") },
    {
      name: "key-rates",
      fragment: `#/keys/${keys.get("indexer")?.token_id}`,
      ready: inUse(stand, keys.get("indexer")),
    },
    { name: "key-block", fragment: key, ready: text("What it is"), act: press("Block") },
    { name: "teams", fragment: "#/teams", ready: text("Customer support") },
    {
      name: "team",
      fragment: "#/teams/support",
      ready: inUse(stand, keys.get("support-desk")),
    },
    { name: "users", fragment: "#/users", ready: text("Ann Okafor") },
    { name: "user", fragment: "#/users/ann%40example.com", ready: text("Give a role") },
    { name: "customers", fragment: "#/customers", ready: text("Northwind") },
    { name: "customer", fragment: "#/customers/c-1001/acme", ready: text("What it is") },
    { name: "organizations", fragment: "#/organizations", ready: text("Globex") },
    { name: "organization", fragment: "#/organizations/acme", ready: text("Search and ranking") },
    { name: "history", fragment: "#/history", ready: text("Timeline") },
    { name: "generation", fragment: "#/history/3", ready: text("Lines, against generation 2") },
    {
      name: "rollback",
      fragment: "#/history",
      ready: text("Timeline"),
      act: async (page) => {
        await press("Roll back to it")(page);
        await page.getByRole("dialog").getByText("caution").waitFor();
      },
    },
    {
      name: "search",
      fragment: "#/requests",
      ready: text("budget_exceeded"),
      act: async (page) => {
        await page.keyboard.press("/");
        await page.getByRole("combobox", { name: /^Search/ }).fill("su");
        await page.getByRole("option", { name: /support-bot/ }).waitFor();
      },
    },
    {
      name: "editor",
      fragment: "#/editor?file=pipelines/chat.yaml&line=29",
      ready: async (page) => {
        await page.locator(".editor-place .cm-activeLine", { hasText: "limits" }).waitFor();
      },
    },
    { name: "missing", fragment: "#/nowhere", ready: text("There is no such screen") },
  ];
}
