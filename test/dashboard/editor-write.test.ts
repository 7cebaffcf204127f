/** Checks 9, 16 and 17: edits of the configuration that are written and applied. */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, configStatus } from "../system/support/client.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { lineOf, replaceLine } from "./support/editing.ts";
import { sharedBrowser } from "./support/shared.ts";
import { startStand, type Stand } from "./support/stand.ts";
import { type Visit, visit } from "./support/visit.ts";

const GUARDED = "  - { use: guardrails, with: { input: [] } }";

describe.skipIf(CHROMIUM === undefined)("the editor that writes", () => {
  let stand: Stand;
  let visitor: Visit;
  let page: Page;

  beforeAll(async () => {
    stand = await startStand({ server: "admin: { editor: write }, reload: on_request" });
    visitor = await visit(await sharedBrowser(), stand.site);
    await visitor.signIn(stand.gateway.masterKey);
    page = visitor.page;
    visitor.allow(/status of 403 .*\/(?:config\/files|ui\/key)/);
    visitor.allow(/status of 409 .*\/config\/files/);
  });

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]();
    await stand?.[Symbol.asyncDispose]();
  });

  const fileOf = (name: string): string => join(stand.gateway.workspace.folder, name);
  const chatFile = (): string => readFileSync(fileOf("pipelines/chat.yaml"), "utf8");
  const generation = async (): Promise<number> =>
    (await configStatus(stand.gateway)).live?.generation ?? 0;
  const dialog = () => page.getByRole("dialog", { name: "Review the edit" });
  const writes = (): number =>
    stand.site.requests.filter(
      ({ method, path }) => method === "PUT" && path.startsWith("/config/files"),
    ).length;
  const openChat = async (): Promise<void> => {
    await visitor.open("#/editor?file=pipelines/chat.yaml", "Editor");
    await lineOf(page, "guardrails").waitFor();
  };
  const review = async (): Promise<void> => {
    await page.getByText("valid", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Review" }).click();
    await dialog().getByText("What it changes").waitFor();
  };

  it("check 16: a failing test is shown at its line, and nothing is applied", async () => {
    await openChat();
    const before = chatFile();
    const from = await generation();
    await replaceLine(page, "      text: Hello back.", "      text: Something else.");
    await review();
    await dialog().getByRole("button", { name: "Run the tests" }).click();
    await dialog()
      .getByText(/^1 of \d+ failed$/)
      .waitFor();
    const line = before.slice(0, before.indexOf("      text: Hello back.")).split("\n").length;
    const finding = dialog().getByRole("button", { name: `pipelines/chat.yaml:${line}` });
    expect(await finding.textContent()).toContain("fails: expected");
    await dialog().getByRole("button", { name: "Apply to all keys" }).click();
    await dialog().getByText("Refused: nothing changed.").waitFor();
    expect(chatFile()).toBe(before);
    expect(await generation()).toBe(from);
    await finding.first().click();
    await page.locator(".editor-place .cm-activeLine", { hasText: "Something else" }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 16: a double click applies once, and the edit is live", async () => {
    await openChat();
    const from = await generation();
    await replaceLine(page, "  - guardrails", GUARDED);
    await review();
    const before = writes();
    await dialog().getByRole("button", { name: "Apply to all keys" }).dblclick();
    await page.getByText(`Generation ${from + 1} serves.`).waitFor();
    expect(writes()).toBe(before + 1);
    expect(chatFile()).toContain(GUARDED);
    expect(await generation()).toBe(from + 1);
    await page.getByRole("button", { name: "Review" }).isDisabled();
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 16: a dangerous edit needs the key again, which is kept nowhere", async () => {
    await visitor.open("#/editor?file=config/gateway.yaml", "Editor");
    await lineOf(page, "version: 1").waitFor();
    const from = await generation();
    await replaceLine(page, "models:", 'policies: { lints: { weak_key: "off" } }\nmodels:');
    await review();
    await dialog().getByRole("button", { name: "Apply to all keys" }).click();
    const form = dialog().getByRole("form", { name: "Enter the key again" });
    await form.getByText("the section policies changes").waitFor();
    expect(await generation()).toBe(from);
    await form.getByLabel("Key", { exact: true }).fill("sk-not-the-key");
    await form.getByRole("button", { name: "Enter the key" }).click();
    await form.getByText("This is not the key that opened the session", { exact: false }).waitFor();
    await form.getByLabel("Key", { exact: true }).fill(stand.gateway.masterKey);
    await form.getByRole("button", { name: "Enter the key" }).click();
    await page.getByText(`Generation ${from + 1} serves.`).waitFor();
    const stored = await page.evaluate(() =>
      JSON.stringify({ ...localStorage, ...sessionStorage }),
    );
    expect(stored + page.url() + (await page.content())).not.toContain(stand.gateway.masterKey);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 17: two people edit one file: both sides are shown, and no line is lost", async () => {
    await openChat();
    await replaceLine(page, "deadline: 600s", "deadline: 500s");
    const { files, digest } = (await (
      await admin(stand.gateway, "/config/files?of=files")
    ).json()) as { readonly files: Record<string, string>; readonly digest: string };
    const theirs = `${files["pipelines/chat.yaml"]}# theirs\n`;
    await review();
    await write(stand, { "pipelines/chat.yaml": theirs }, digest);
    await dialog().getByRole("button", { name: "Apply to all keys" }).click();
    const both = page.getByRole("region", { name: "Both edits of pipelines/chat.yaml" });
    await both.getByText("fit together", { exact: false }).waitFor();
    expect(await both.getByText("# theirs").count()).toBe(1);
    expect(await both.getByText("deadline: 500s").count()).toBe(1);
    expect(chatFile()).toBe(theirs);
    await both.getByRole("button", { name: "Keep both" }).click();
    await review();
    const from = await generation();
    await dialog().getByRole("button", { name: "Apply to all keys" }).click();
    await page.getByText(`Generation ${from + 1} serves.`).waitFor();
    expect(chatFile()).toContain("# theirs");
    expect(chatFile()).toContain("deadline: 500s");
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 17: a save on the machine is seen while it is typed, and the same lines are chosen", async () => {
    await openChat();
    await replaceLine(page, "deadline: 500s", "deadline: 400s");
    const saved = chatFile().replace("deadline: 500s", "deadline: 300s");
    writeFileSync(fileOf("pipelines/chat.yaml"), saved);
    const both = page.getByRole("region", { name: "Both edits of pipelines/chat.yaml" });
    await both.getByText("change the same lines", { exact: false }).waitFor();
    expect(await page.getByRole("button", { name: "Review" }).isDisabled()).toBe(true);
    await both.getByRole("button", { name: "Take theirs" }).click();
    await lineOf(page, "deadline: 300s").waitFor();
    expect(chatFile()).toBe(saved);
    expect(visitor.unexpected()).toEqual([]);
  });

  it.skipIf(!canMount())(
    "check 16: says where the files cannot be written, and keeps the draft",
    async () => {
      await openChat();
      const folder = fileOf("pipelines");
      execFileSync("mount", ["--bind", folder, folder]);
      try {
        execFileSync("mount", ["-o", "remount,ro,bind", folder]);
        await replaceLine(page, "deadline: 300s", "deadline: 200s");
        await review();
        await dialog().getByRole("button", { name: "Apply to all keys" }).click();
        await dialog().getByText("read-only file system", { exact: false }).waitFor();
        expect(await dialog().getByRole("button", { name: "Download the patch" }).isEnabled()).toBe(
          true,
        );
        await page.keyboard.press("Escape");
        await lineOf(page, "deadline: 200s").waitFor();
      } finally {
        execFileSync("umount", [folder]);
      }
      expect(chatFile()).toContain("deadline: 300s");
      await page.getByRole("button", { name: "Discard" }).click();
      expect(visitor.unexpected()).toEqual([]);
    },
  );

  it("check 9: edits and applies by the keyboard alone, as a canary", async () => {
    await openChat();
    const from = await generation();
    await page.locator(".editor-place .cm-content").focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText("# by keyboard\n");
    await page.getByText("valid", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Review" }).focus();
    await page.keyboard.press("Enter");
    await dialog().getByText("What it changes").waitFor();
    await dialog().getByRole("radio", { name: "A share of the keys first" }).focus();
    await page.keyboard.press("Space");
    await dialog().getByRole("button", { name: "Start the canary" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText(`Generation ${from + 1} runs as a canary.`, { exact: false }).waitFor();
    expect(await generation()).toBe(from);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 16: a canary that is returned while it is looked at is gone, and says why", async () => {
    const { canary } = (await (await admin(stand.gateway, "/config/status")).json()) as {
      readonly canary: { readonly generation: number };
    };
    await visitor.open("#/history", "History");
    const panel = page.getByRole("region", { name: `Canary: generation ${canary.generation}` });
    await panel.getByText("All other keys").waitFor();
    const ended = await admin(stand.gateway, "/config/canary/abort", { author: "bob" });
    expect(ended.status).toBe(200);
    await panel.waitFor({ state: "detached" });
    await page.getByText(/^Returned because bob/).waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });
});

/** Writes files as another administrator does. */
async function write(
  { gateway }: Stand,
  files: Readonly<Record<string, string>>,
  base: string,
): Promise<void> {
  const answer = await fetch(`${gateway.adminUrl}/config/files`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ files, base, author: "bob" }),
  });
  expect(answer.status).toBe(200);
}

/** Whether this process may make a folder read-only for all. */
function canMount(): boolean {
  try {
    execFileSync("unshare", ["-m", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
