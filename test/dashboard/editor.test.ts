/** Checks 7, 9 and 16: editing the configuration. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "./support/chromium.ts";
import { lineOf, replaceLine } from "./support/editing.ts";
import { sharedBrowser } from "./support/shared.ts";
import { startStand, type Stand } from "./support/stand.ts";
import { type Visit, visit } from "./support/visit.ts";

describe.skipIf(CHROMIUM === undefined)("the editor", () => {
  let stand: Stand;
  let visitor: Visit;

  beforeAll(async () => {
    stand = await startStand();
    visitor = await visit(await sharedBrowser(), stand.site, { acceptDownloads: true });
    await visitor.signIn(stand.gateway.masterKey);
  });

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]();
    await stand?.[Symbol.asyncDispose]();
  });

  it("check 16: shows a finding at its line while it is typed, and applies nothing", async () => {
    const { page } = visitor;
    await visitor.open("#/editor?file=pipelines/chat.yaml", "Editor");
    await lineOf(page, "guardrails").waitFor();
    await replaceLine(page, "  - guardrails", "  - guardrale");
    await page.getByText("1 finding", { exact: true }).waitFor();
    await page.locator(".editor-place .cm-lintRange-error").first().waitFor();
    const finding = page.getByRole("region", { name: "Findings" }).getByRole("button");
    expect(await finding.textContent()).toMatch(/pipelines\/chat\.yaml:\d+.*guardrale/);
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByText("refused", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Download the patch" }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Discard" }).click();
    await lineOf(page, "guardrails").waitFor();
    expect(stand.site.requests.filter(({ path }) => path.startsWith("/config/reload"))).toEqual([]);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 18: proposes an edit: effects as the route has them, and a patch that applies", async () => {
    const { page } = visitor;
    const { folder } = stand.gateway.workspace;
    await replaceLine(
      page,
      "  - guardrails",
      "  - { use: guardrails, with: { input: [pii], output: [pii] } }",
    );
    await page.getByRole("button", { name: "gateway.yaml" }).click();
    await lineOf(page, "version: 1").waitFor();
    await replaceLine(page, "models:", "guardrails:\n  pii: { use: pii, action: mask }\nmodels:");
    await page.getByText("valid", { exact: true }).waitFor();
    const answered = page.waitForResponse(
      (response) =>
        response.url().endsWith("/config/validate") &&
        response.request().postData()?.includes('"replay":true') === true,
    );
    await page.getByRole("button", { name: "Review" }).click();
    const { effects } = (await (await answered).json()) as {
      readonly effects: readonly { readonly about: string; readonly message: string }[];
    };
    expect(effects.length).toBeGreaterThan(0);
    for (const { about, message } of effects)
      await page.getByRole("dialog").getByText(`${about}: ${message}`).first().waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the patch" }).click();
    const patch = await (await saved).path();
    execFileSync("git", ["apply", "--unsafe-paths", `--directory=${folder}`, patch], {
      cwd: folder,
    });
    expect(readFileSync(join(folder, "pipelines/chat.yaml"), "utf8")).toContain("input: [pii]");
    expect(visitor.unexpected()).toEqual([]);
  });

  it("keeps each character in its place, however fast it is typed", async () => {
    const { page } = visitor;
    await page.keyboard.press("Escape");
    await page.locator(".editor-place .cm-content").click();
    await page.keyboard.press("Control+Home");
    const typed = "# many words at once, faster than the screen is drawn\n";
    await page.keyboard.type(typed.repeat(3));
    await page.waitForTimeout(300);
    const lines = await page.locator(".editor-place .cm-line").allTextContents();
    expect(lines.slice(0, 3)).toEqual(Array(3).fill(typed.trim()));
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 9: Esc and then Tab leaves the text", async () => {
    const { page } = visitor;
    await page.keyboard.press("Escape");
    await page.locator(".editor-place .cm-content").click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    const isInside = await page.evaluate(
      () => document.activeElement?.classList.contains("editor-place") === true,
    );
    expect(isInside).toBe(false);
    expect(visitor.unexpected()).toEqual([]);
  });
});
