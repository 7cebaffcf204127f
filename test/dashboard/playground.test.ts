/** The playground: a request as a key, stopped, compared, and turned into a test of its pipeline. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../system/support/client.ts";
import { runCommand } from "../system/support/gateway-process.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import { make, startStand, type Stand } from "./support/stand.ts";
import { type Visit, visit } from "./support/visit.ts";

const LONG = "A sluice lets water through. ".repeat(200);

describe.skipIf(CHROMIUM === undefined)("the playground", () => {
  let stand: Stand;
  let visitor: Visit;
  let page: Page;

  beforeAll(async () => {
    stand = await startStand();
    await make(stand.gateway, "/key/generate", {
      key_alias: "player",
      models: ["gpt-4o-mini", "gpt-4o"],
    });
    visitor = await visit(await sharedBrowser(), stand.site);
    ({ page } = visitor);
    await visitor.signIn(stand.gateway.masterKey);
    await visitor.open("#/playground", "Playground");
  }, 120_000);

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]();
    await stand?.[Symbol.asyncDispose]();
  });

  const reply = (model: string) => page.getByRole("region", { name: `Reply of ${model}` }).first();
  const requestId = async (model: string): Promise<string> => {
    const link = reply(model).getByRole("link", { name: "Open the request" });
    return String(await link.getAttribute("href")).replace("#/requests/", "");
  };

  it("says what is missing, and sends nothing", async () => {
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Choose a key, or master.").waitFor();
    expect(stand.upstream.requests.length).toBe(0);
  });

  it("sends a request as a key of the list, and explains it", async () => {
    await page.getByRole("combobox", { name: "As key" }).fill("player");
    await page.getByRole("option", { name: /player/ }).click();
    await page.getByRole("combobox", { name: "Model", exact: true }).fill("gpt-4o-mini");
    await page.getByRole("option", { name: /^gpt-4o-mini/ }).click();
    await page.getByLabel("System prompt").fill("Answer in one sentence.");
    await page.getByLabel("User, message 1").fill("What is a sluice? ![](https://evil.test/x.png)");
    stand.upstream.script({ kind: "reply", text: "A quick brown fox.", eventDelayMs: 100 });
    await page.getByRole("button", { name: "Send" }).dblclick();
    const shown = reply("gpt-4o-mini");
    await shown.getByText("Complete, 200").waitFor();
    // A double click is one request, which is paid once.
    const sent = stand.site.requests.filter(({ path }) => path === "/playground/chat");
    expect(sent).toHaveLength(1);
    await shown.getByText("quick brown fox").first().waitFor();
    await shown
      .getByText(/pipelines\/chat\.yaml:\d+/)
      .first()
      .waitFor();
    await shown.getByText("openai/gpt-4o-mini").first().waitFor();
    const [row] = await rowsOf(stand.gateway, await requestId("gpt-4o-mini"));
    expect(row?.request_tags).toEqual(["playground"]);
  });

  it("turns it into a test that passes as it is written", async () => {
    const shown = reply("gpt-4o-mini");
    await shown.getByText("As curl").click();
    await shown.getByText(/curl "\$GATEWAY_URL"\/v1\/chat\/completions/).waitFor();
    await shown.getByText("As a test").click();
    const entry = await shown.getByRole("group", { name: "test" }).locator("pre").innerText();
    const { workspace } = stand.gateway;
    const file = join(workspace.pipelinesFolder, "chat.yaml");
    const text = readFileSync(file, "utf8");
    expect(text).toContain("\ntests:\n");
    writeFileSync(file, text.replace("\ntests:\n", `\ntests:\n${entry}\n`));
    const args = ["test", "--config", workspace.configPath, file];
    const command = runCommand(args, workspace.folder);
    const { code } = await command.ended;
    expect([code, command.stdout + command.stderr]).toEqual([
      0,
      expect.stringContaining("ok      chat: gpt-4o-mini answers"),
    ]);
    writeFileSync(file, text);
  });

  it("check 24: compares two models, and stops both", async () => {
    stand.upstream.script({ kind: "reply", text: LONG, eventDelayMs: 30 });
    await page.getByText("More fields").click();
    await page.getByRole("combobox", { name: "Second model" }).fill("gpt-4o");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Send" }).click();
    for (const model of ["gpt-4o-mini", "gpt-4o"])
      await page
        .getByRole("region", { name: `Reply of ${model}`, exact: true })
        .first()
        .getByText("A sluice lets water")
        .waitFor();
    await page.getByRole("button", { name: "Stop all" }).click();
    await page.getByText("Stopped by you").nth(1).waitFor();
    await page.getByText("client_closed").first().waitFor();
    const [row] = await rowsOf(stand.gateway, await requestId("gpt-4o-mini"));
    expect([row?.status, (row?.spend ?? 0) > 0]).toEqual(["partial", true]);
  });

  it("shows a refusal of the route as one, and stays signed in", async () => {
    await page.getByRole("combobox", { name: "Model", exact: true }).fill("no-such-model");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Send" }).click();
    await reply("no-such-model").getByText("Refused, 404").waitFor();
    visitor.allow(/status of 404 .*\/playground\/chat/);
    expect(visitor.unexpected()).toEqual([]);
  });
});
