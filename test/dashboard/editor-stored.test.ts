/** Checks 9, 16 and 17: edits of a configuration that is in the store, for every instance. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createUpstream, type Upstream } from "@sluice/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, configStatus, MESSAGES } from "../system/support/client.ts";
import {
  createFleet,
  type FleetMember,
  type TestFleet,
} from "../system/support/databases/fleet.ts";
import { eventually } from "../system/support/eventually.ts";
import { isServerThere } from "../system/support/postgres.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { lineOf, replaceLine } from "./support/editing.ts";
import { keyboardOf } from "./support/hand.ts";
import { sharedBrowser } from "./support/shared.ts";
import { serveDashboard, type Site } from "./support/site.ts";
import { type Visit, visit } from "./support/visit.ts";

const GATEWAY = "store:gateway.yaml";
const CHAT = "store:../pipelines/chat.yaml";

/** The gateway file of a machine. */
const machine = (server: string): string =>
  `version: 1\nserver: { data_directory: data, ${server} }\nstore: { use: postgres, url: "\${env:DATABASE_URL}" }\nconfig: { source: postgres }\n`;

describe.skipIf(CHROMIUM === undefined || !isServerThere)("the editor of the store", () => {
  let upstream: Upstream;
  let fleet: TestFleet;
  /** It has two workers, and applies edits. The other one proposes them. */
  let writing: FleetMember;
  let proposing: FleetMember;
  let site: Site;
  let visitor: Visit;
  let page: Page;

  const push = async (files: Readonly<Record<string, string>>): Promise<void> => {
    const answer = await admin(writing.gateway, "/fleet/push", { files, author: "bob" });
    expect(await answer.json()).toMatchObject({ outcome: "applied", findings: [] });
  };
  const stored = async (): Promise<Readonly<Record<string, string>>> => {
    const answer = await admin(proposing.gateway, "/fleet/files");
    return ((await answer.json()) as { readonly files: Readonly<Record<string, string>> }).files;
  };
  const generationOf = async ({ gateway }: FleetMember): Promise<number> =>
    (await configStatus(gateway)).live?.generation ?? 0;
  const allRun = (generation: number): Promise<unknown> =>
    eventually(`generation ${generation}`, async () => {
      const numbers = await Promise.all(fleet.members.map(generationOf));
      return numbers.every((number) => number === generation);
    });
  const dialog = () => page.getByRole("dialog", { name: "Review the edit" });
  const open = async (file: string, text: string): Promise<void> => {
    await visitor.open(`#/editor?file=${file}`, "Editor");
    await lineOf(page, text).waitFor();
  };
  const review = async (): Promise<void> => {
    await page.getByText("valid", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Review" }).click();
    await dialog().getByText("What it changes").waitFor();
  };
  const apply = () => dialog().getByRole("button", { name: "Apply to all keys" }).click();

  beforeAll(async () => {
    upstream = await createUpstream();
    fleet = await createFleet({ baseUrl: upstream.baseUrl });
    const environment = { OPENAI_API_KEY: "sk-upstream" };
    writing = await fleet.add(environment, (workspace) =>
      workspace.write(machine("workers: 2, admin: { editor: write }")),
    );
    proposing = await fleet.add(environment, (workspace) =>
      workspace.write(machine("admin: { editor: propose }")),
    );
    const { pipelinesFolder } = writing.workspace;
    const pipelines = readdirSync(pipelinesFolder).map((name) => [
      `../pipelines/${name}`,
      readFileSync(join(pipelinesFolder, name), "utf8"),
    ]);
    await push({
      "gateway.yaml": `version: 1\nproviders:\n  openai: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }\nmodels:\n  - { id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }\n`,
      ...Object.fromEntries(pipelines),
    });
    await allRun(2);
    site = await serveDashboard(writing.gateway.adminUrl);
    visitor = await visit(await sharedBrowser(), site, { acceptDownloads: true });
    await visitor.signIn(writing.gateway.masterKey);
    page = visitor.page;
    visitor.allow(/status of 403 .*\/(?:config\/files|ui\/key)/);
    visitor.allow(/status of 409 .*\/config\/files/);
  });

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]();
    await site?.close();
    await fleet?.dispose();
    await upstream?.close();
  });

  it("check 16: a finding is shown at its line of the stored file, and nothing is pushed", async () => {
    await open(GATEWAY, "models:");
    await replaceLine(page, "models:", "modells:");
    const finding = page
      .getByRole("region", { name: "Findings" })
      .getByRole("button", { name: `${GATEWAY}:4` });
    await finding.first().waitFor();
    await page.locator(".editor-place .cm-lintRange-error").first().waitFor();
    await page
      .getByRole("navigation", { name: "Files" })
      .getByRole("button", { name: "chat.yaml" })
      .click();
    await lineOf(page, "guardrails").waitFor();
    await finding.first().click();
    await page.locator(".editor-place .cm-activeLine", { hasText: "modells:" }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    expect(await generationOf(writing)).toBe(2);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 16: an edit is live at every instance, and a double click pushes once", async () => {
    await open(CHAT, "guardrails");
    await replaceLine(page, "  - guardrails", "  - { use: guardrails, with: { input: [] } }");
    await review();
    await dialog().getByText("applies at every instance", { exact: false }).waitFor();
    await dialog().getByRole("button", { name: "Apply to all keys" }).dblclick();
    await page.getByText("Generation 3 serves.").waitFor();
    await allRun(3);
    expect((await stored())["../pipelines/chat.yaml"]).toContain("with: { input: [] }");
    const { headers } = await chat(proposing.gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    expect(headers.get("x-sluice-generation")).toBe("3");
    const writes = site.requests.filter(({ method }) => method === "PUT");
    expect(writes).toHaveLength(1);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 16: an address needs the key again; a secret of the machine is refused", async () => {
    await open(GATEWAY, "models:");
    await replaceLine(page, "models:", 'prices: "${env:DATABASE_URL}"\nmodels:');
    await page.getByText("is a secret of the gateway itself", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await lineOf(page, "models:").waitFor();
    await replaceLine(
      page,
      "models:",
      `  other: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }\nmodels:`,
    );
    await review();
    await apply();
    const form = dialog().getByRole("form", { name: "Enter the key again" });
    await form.getByText("the section providers changes").waitFor();
    expect(await generationOf(writing)).toBe(3);
    await form.getByLabel("Key", { exact: true }).fill(writing.gateway.masterKey);
    await form.getByRole("button", { name: "Enter the key" }).click();
    await page.getByText("Generation 4 serves.").waitFor();
    await allRun(4);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 17: another administrator pushes meanwhile: both edits are shown and kept", async () => {
    await open(CHAT, "deadline: 600s");
    await replaceLine(page, "deadline: 600s", "deadline: 500s");
    await review();
    const files = await stored();
    await push({
      ...files,
      "../pipelines/chat.yaml": `${files["../pipelines/chat.yaml"]}# theirs\n`,
    });
    await apply();
    const both = page.getByRole("region", { name: `Both edits of ${CHAT}` });
    await both.getByText("fit together", { exact: false }).waitFor();
    await both.getByRole("button", { name: "Keep both" }).click();
    await review();
    await apply();
    await page.getByText("Generation 6 serves.").waitFor();
    await allRun(6);
    const joined = (await stored())["../pipelines/chat.yaml"];
    expect(joined).toContain("# theirs");
    expect(joined).toContain("deadline: 500s");
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 17: the same lines are chosen by the one who types", async () => {
    await open(CHAT, "deadline: 500s");
    await replaceLine(page, "deadline: 500s", "deadline: 400s");
    const files = await stored();
    const theirs = files["../pipelines/chat.yaml"]?.replace("deadline: 500s", "deadline: 300s");
    await push({ ...files, "../pipelines/chat.yaml": theirs ?? "" });
    const both = page.getByRole("region", { name: `Both edits of ${CHAT}` });
    await both.getByText("change the same lines", { exact: false }).waitFor();
    expect(await page.getByRole("button", { name: "Review" }).isDisabled()).toBe(true);
    await both.getByRole("button", { name: "Take theirs" }).click();
    await lineOf(page, "deadline: 300s").waitFor();
    expect(await generationOf(writing)).toBe(7);
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 9: by the keyboard alone: a canary, its end, and the way back", async () => {
    const hand = keyboardOf(page);
    await open(CHAT, "deadline: 300s");
    await page.locator(".editor-place .cm-content").focus();
    await page.keyboard.press("Control+End");
    await hand.type("# by keyboard\n");
    await page.getByText("valid", { exact: true }).waitFor();
    await hand.press(page.getByRole("button", { name: "Review" }));
    await dialog().getByText("What it changes").waitFor();
    await dialog().getByRole("radio", { name: "A share of the keys first" }).focus();
    await hand.key("Space");
    await hand.press(dialog().getByRole("button", { name: "Start the canary" }));
    await page.getByText("Generation 8 runs as a canary.", { exact: false }).waitFor();
    expect(await generationOf(writing)).toBe(7);
    await eventually("the canary at the other instance", async () => {
      const answer = await admin(proposing.gateway, "/config/status");
      const { canary } = (await answer.json()) as {
        readonly canary: { readonly generation: number } | null;
      };
      return canary?.generation === 8;
    });
    // What serves all keys is what the editor shows.
    await lineOf(page, "deadline: 300s").waitFor();
    expect(await page.getByRole("button", { name: "Review" }).isDisabled()).toBe(true);
    await hand.goTo("History");
    await hand.press(page.getByRole("button", { name: "Promote" }));
    await allRun(8);
    await page.getByRole("region", { name: /^Canary/ }).waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Apply the files" }).count()).toBe(0);
    await page.getByText("A push to the store", { exact: false }).first().waitFor();
    await hand.press(page.getByRole("button", { name: "Roll back to it" }).first());
    const rollback = page.getByRole("dialog", { name: /^Roll back to generation/ });
    await rollback
      .getByText("in the store, which every instance applies", { exact: false })
      .waitFor();
    await hand.press(rollback.getByRole("button", { name: "Roll back" }));
    await allRun(9);
    expect((await stored())["../pipelines/chat.yaml"]).not.toContain("# by keyboard");
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 16: where edits are proposed, the patch fits what sluice pull writes", async () => {
    const other = await serveDashboard(proposing.gateway.adminUrl);
    try {
      await using second = await visit(await sharedBrowser(), other, { acceptDownloads: true });
      await second.signIn(proposing.gateway.masterKey);
      await second.open(`#/editor?file=${CHAT}`, "Editor");
      await lineOf(second.page, "deadline: 300s").waitFor();
      await replaceLine(second.page, "deadline: 300s", "deadline: 200s");
      await second.page.getByText("valid", { exact: true }).waitFor();
      await second.page.getByRole("button", { name: "Review" }).click();
      await second.page.getByText("sluice push DIR", { exact: false }).waitFor();
      expect(await second.page.getByRole("button", { name: /^Apply/ }).count()).toBe(0);
      const saved = second.page.waitForEvent("download");
      await second.page.getByRole("button", { name: "Download the patch" }).click();
      const patch = await (await saved).path();
      const folder = join(proposing.workspace.folder, "pulled");
      for (const [name, text] of Object.entries(await stored())) {
        const file = join(folder, "config", name);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      execFileSync("git", ["apply", "--unsafe-paths", `--directory=${folder}`, patch], {
        cwd: folder,
      });
      const patched = readFileSync(join(folder, "pipelines/chat.yaml"), "utf8");
      expect(patched).toContain("deadline: 200s");
      expect(second.unexpected()).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
