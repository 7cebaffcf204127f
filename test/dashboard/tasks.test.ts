/**
 * Ten tasks of an operator who sees the dashboard for the first time, each with the mouse and with
 * the keyboard alone. The run prints how many clicks and keys each took.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, MESSAGES } from "../system/support/client.ts";
import { guardedWorkspace } from "../system/guardrails/guardrails.fixture.ts";
import { eventually } from "../system/support/eventually.ts";
import { type GatewayProcess, startOwnProcess } from "../system/support/gateway-process.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { type Hand, isInText, keyboardOf, mouseOf } from "./support/hand.ts";
import { seedHistory, seedRecords, seedTraffic } from "./support/seed.ts";
import { sharedBrowser } from "./support/shared.ts";
import { serveDashboard } from "./support/site.ts";
import { make, startStand, type Stand } from "./support/stand.ts";
import { type PastRow, storeRows } from "./support/stored-rows.ts";
import { replaceTaskTable, taskTable } from "./support/task-table.ts";
import { type Visit, visit } from "./support/visit.ts";

const HANDS = { mouse: mouseOf, keyboard: keyboardOf };
const counts = new Map<string, Partial<Record<Hand["name"], number>>>();

describe.skipIf(CHROMIUM === undefined)("tasks of an operator", () => {
  let stand: Stand;
  let guarded: GatewayProcess;

  beforeAll(async () => {
    stand = await startStand({
      prepare: ({ dataDirectory }) => storeRows(dataDirectory, rowsOfYesterday()),
    });
    await seedTraffic(stand, await seedRecords(stand));
    await seedHistory(stand);
    guarded = await startGuarded(stand);
  });

  afterAll(async () => {
    console.log(taskTable(counts));
    replaceTaskTable(counts);
    await guarded?.dispose();
    await stand?.[Symbol.asyncDispose]();
  });

  describe.each(["mouse", "keyboard"] as const)("with the %s", (name) => {
    let visitor: Visit;
    let page: Page;

    beforeAll(async () => {
      visitor = await visit(await sharedBrowser(), stand.site, {
        acceptDownloads: true,
        permissions: ["clipboard-read", "clipboard-write"],
      });
      page = visitor.page;
      await visitor.signIn(stand.gateway.masterKey);
    });

    afterAll(async () => visitor?.[Symbol.asyncDispose]());

    /** Each task begins where an operator is after the sign-in. */
    const work = async (title: string, doing: (hand: Hand) => Promise<void>): Promise<void> => {
      await visitor.open("#/overview", "Overview");
      const hand = HANDS[name](page);
      await doing(hand);
      counts.set(title, { ...counts.get(title), [name]: hand.count });
      const unexpected = visitor.unexpected();
      if (unexpected.length > 0) throw new Error(unexpected.join("\n"));
    };
    const button = (of: string) => page.getByRole("button", { name: of, exact: true }).first();
    const inDialog = (of: string) =>
      page.getByRole("dialog").getByRole("button", { name: of, exact: true });
    const heading = (of: string | RegExp) => page.getByRole("heading", { level: 1, name: of });

    it("create a key with a budget, and call chat with it", ({ task }) =>
      work(task.name, async (hand) => {
        await hand.goTo("Keys");
        await hand.press(button("New key"));
        await hand.fill(page.getByLabel("Name", { exact: true }), `by ${name}`);
        await hand.fill(page.getByLabel("Budget", { exact: true }), "5");
        await hand.press(button("Create key"));
        await hand.press(button("Copy"));
        await button("Copied").waitFor();
        const secret = await page.evaluate(() => navigator.clipboard.readText());
        await hand.key("Escape");
        await hand.press(button("It is stored: close"));
        const headers = { authorization: `Bearer ${secret}` };
        const reply = await chat(
          stand.gateway,
          { model: "gpt-4o-mini", messages: MESSAGES },
          { headers },
        );
        expect(reply.status).toBe(200);
        await page.getByRole("row", { name: /200/ }).waitFor();
      }));

    it("find why a request failed over", ({ task }) =>
      work(task.name, async (hand) => {
        await hand.goTo("Requests");
        const row = page.getByRole("row", { name: /flaky/ }).first();
        await hand.press(row.getByRole("link").first());
        await page
          .getByText("another model: flaky -> gpt-4o-mini, because of upstream_overloaded")
          .waitFor();
        await page
          .getByText(/^pipelines\/chat\.yaml:\d+$/)
          .first()
          .waitFor();
        expect(page.url()).toContain("#/requests/");
      }));

    it("raise a team's budget", ({ task }) =>
      work(task.name, async (hand) => {
        await hand.goTo("Teams");
        await hand.press(page.getByRole("link", { name: "Mobile apps" }));
        await hand.press(button("Edit"));
        await hand.fill(page.getByLabel("Budget", { exact: true }), name === "mouse" ? "75" : "90");
        await hand.press(button("Save"));
        await page.getByText("Mobile apps is changed.").waitFor();
        const answer = await (await admin(stand.gateway, "/team/info?team_id=mobile")).text();
        expect(answer).toContain(`"max_budget":${name === "mouse" ? 75 : 90}`);
      }));

    it("see who spent most yesterday", ({ task }) =>
      work(task.name, async (hand) => {
        await hand.goTo("Spend");
        await hand.choose(page.getByRole("combobox", { name: "Period" }), "Yesterday");
        const table = page.getByRole("table", { name: "Spend by key" });
        await table.getByText("$7.25").waitFor();
        const [highest] = await table.locator("tbody tr").allTextContents();
        expect(highest).toMatch(/^nightly-batch.*\$7\.25/);
      }));

    it("mask personal data on chat, and read the effects", ({ task }) =>
      work(task.name, async (hand) => {
        await hand.goTo("Editor");
        await editAs(hand, page, "chat.yaml", "  - guardrails", GUARDED);
        await editAs(hand, page, "gateway.yaml", "models:", MASKED);
        await page.getByText("valid", { exact: true }).first().waitFor();
        await hand.press(button("Review"));
        const dialog = page.getByRole("dialog");
        await dialog.getByText(/pii/).first().waitFor();
        await dialog
          .getByText(/safe|caution|danger/)
          .first()
          .waitFor();
        await hand.key("Escape");
        const file = join(stand.gateway.workspace.pipelinesFolder, "chat.yaml");
        expect(readFileSync(file, "utf8")).not.toContain("input: [pii]");
        await hand.press(button("Discard"));
      }));

    it("roll back", ({ task }) =>
      work(task.name, async (hand) => {
        const before = await generationOf(stand);
        await hand.goTo("History");
        await hand.press(button("Roll back to it"));
        await page.getByRole("dialog").getByText("What it changes").waitFor();
        await hand.press(inDialog("Roll back"));
        await eventually("a new generation", async () => (await generationOf(stand)) > before);
        expect(await generationOf(stand)).toBeGreaterThan(before);
      }));

    it("find a failing deployment's reason", ({ task }) =>
      work(task.name, async (hand) => {
        await hand.goTo("Models");
        const failing = page.getByRole("row", { name: /gpt-4\.1-mini/ }).first();
        await hand.press(failing.getByRole("link").first());
        await heading(/gpt-4\.1-mini/).waitFor();
        await page.getByRole("cell", { name: "upstream_overloaded" }).first().waitFor();
        expect(page.url()).toContain("gpt-4.1-mini");
      }));

    it("test a model in the playground, and turn it into a test of its pipeline", ({ task }) =>
      work(task.name, async (hand) => {
        await hand.goTo("Playground");
        await hand.fill(page.getByRole("combobox", { name: "As key" }), "master");
        await hand.fill(page.getByRole("combobox", { name: "Model", exact: true }), "gpt-4o-mini");
        await hand.fill(page.getByLabel("User, message 1"), "What is a sluice?");
        await hand.press(button("Send"));
        const reply = page.getByRole("region", { name: "Reply of gpt-4o-mini" }).first();
        await reply.getByText("Complete, 200").waitFor();
        await hand.press(reply.getByText("As a test"));
        const entry = reply.getByRole("group", { name: "test" });
        await hand.press(entry.getByRole("button"));
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        expect(copied).toContain("gpt-4o-mini answers");
      }));

    it("compare a guardrail in shadow with the enforced ones", async ({ task }) => {
      const site = await serveDashboard(guarded.adminUrl);
      try {
        await using own = await visit(await sharedBrowser(), site);
        await own.signIn(guarded.masterKey);
        const hand = HANDS[name](own.page);
        await hand.goTo("Guardrails");
        const chatRoute = { name: "POST /v1/chat/completions", exact: true };
        const route = own.page.getByRole("region", chatRoute);
        await route.getByText("blocked 1 of 4").waitFor();
        await route.getByText("would have blocked 2 of 4").waitFor();
        await hand.press(own.page.getByRole("link", { name: "watch", exact: true }).first());
        await own.page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
        expect(own.page.url()).toContain("guardrail=watch");
        counts.set(task.name, { ...counts.get(task.name), [name]: hand.count });
        expect(own.unexpected()).toEqual([]);
      } finally {
        await site.close();
      }
    });

    it("revoke a leaked key, and see its last calls", ({ task }) =>
      work(task.name, async (hand) => {
        const alias = `leaked by ${name}`;
        const { key } = await make<{ readonly key: string }>(stand.gateway, "/key/generate", {
          key_alias: alias,
        });
        const headers = { authorization: `Bearer ${key}` };
        await (await chat(stand.gateway, CALL, { headers })).text();
        await hand.goTo("Keys");
        await hand.press(page.getByRole("link", { name: alias }));
        await page
          .getByRole("row", { name: /gpt-4o-mini/ })
          .first()
          .waitFor();
        await hand.press(button("Block"));
        await hand.press(inDialog("Block"));
        await page.getByText("blocked", { exact: true }).waitFor();
        expect((await chat(stand.gateway, CALL, { headers })).status).toBe(401);
      }));
  });
});

/** From a file in the list to the text. */
const MAX_TABS = 60;
const DAY_MS = 86_400_000;
const CALL = { model: "gpt-4o-mini", messages: MESSAGES };
const GUARDED = "  - { use: guardrails, with: { input: [pii], output: [pii] } }";
const MASKED = "guardrails:\n  pii: { use: pii, action: mask }\nmodels:";

/** What three keys spent in the middle of the day before, in UTC. */
function rowsOfYesterday(): readonly PastRow[] {
  const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;
  return [
    { key: "chat-widget", dollars: 2.5 },
    { key: "nightly-batch", dollars: 7.25 },
    { key: "evaluation", dollars: 0.4 },
  ].map((row, index) => ({ ...row, index, atMs: noon + index, team: null, model: "gpt-4o" }));
}

/** A gateway with a guardrail in shadow beside an enforced one, and a request for each. */
async function startGuarded({ upstream }: Stand): Promise<GatewayProcess> {
  const gateway = await startOwnProcess(
    guardedWorkspace({
      baseUrl: upstream.baseUrl,
      guardrails: [
        "no-bad: { use: forbid, word: bad-word }",
        "watch: { use: forbid, word: watched, mode: shadow }",
      ],
      step: "{ input: [no-bad, watch] }",
    }),
  );
  for (const content of ["hello", "a bad-word", "watched one", "watched two"])
    await (
      await chat(gateway, { model: "gpt-4o-mini", messages: [{ role: "user", content }] })
    ).text();
  return gateway;
}

async function generationOf({ gateway }: Stand): Promise<number> {
  const status = (await (await admin(gateway, "/config/status")).json()) as {
    readonly live: { readonly generation: number };
  };
  return status.live.generation;
}

/** Opens a file and replaces a line: it is found with the search of the editor. */
async function editAs(
  hand: Hand,
  page: Page,
  file: string,
  line: string,
  by: string,
): Promise<void> {
  await hand.press(
    page.getByRole("navigation", { name: "Files" }).getByRole("button", { name: file }),
  );
  const text = page.locator(".editor-place .cm-line", { hasText: line.trim() });
  await text.first().waitFor();
  if (hand.name === "mouse") await hand.press(text.first());
  for (let presses = 0; presses < MAX_TABS && !(await isInText(page)); presses += 1)
    await hand.key("Tab");
  await hand.key("Control+Home");
  await hand.key("Control+f");
  const search = page.locator(".editor-place .cm-search input[name=search]");
  await search.waitFor();
  await hand.key("Control+a");
  await page.keyboard.type(line);
  await hand.key("Enter");
  await hand.key("Escape");
  await hand.type(by);
  // A Tab after Escape leaves the text.
  await hand.key("Escape");
}
