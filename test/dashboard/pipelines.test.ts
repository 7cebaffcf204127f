/** Checks 16 and 18: the picture of the pipelines, their coverage, and completion in the editor. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AdminAnswer } from "@sluice/admin-api";
import { admin, chat } from "../system/support/client.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { lineOf } from "./support/editing.ts";
import { sharedBrowser } from "./support/shared.ts";
import { startStand, type Stand } from "./support/stand.ts";
import { type Visit, visit } from "./support/visit.ts";

const GUARDED =
  "  - { use: guardrails, with: { input: [people] }, when: { stream: false }, mode: shadow }";

describe.skipIf(CHROMIUM === undefined)("the pipelines", () => {
  let stand: Stand;
  let visitor: Visit;

  beforeAll(async () => {
    stand = await startStand({
      sections: ["guardrails: { people: { use: pii, action: block } }"],
      async prepare({ pipelinesFolder }) {
        const file = join(pipelinesFolder, "chat.yaml");
        const text = readFileSync(file, "utf8");
        writeFileSync(file, text.replace(/^ {2}- guardrails.*$/m, GUARDED));
      },
    });
    for (const content of ["Hello", "I am at jane.doe@example.com, write to me."])
      await chat(stand.gateway, {
        model: "gpt-4o-mini",
        messages: [{ role: "user", content }],
      });
    visitor = await visit(await sharedBrowser(), stand.site);
    await visitor.signIn(stand.gateway.masterKey);
  });

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]();
    await stand?.[Symbol.asyncDispose]();
  });

  const read = async <Answer>(path: string): Promise<Answer> =>
    (await (await admin(stand.gateway, path)).json()) as Answer;

  it("check 18: are nested steps with the lines, conditions and figures of the route", async () => {
    const { page } = visitor;
    await visitor.open("#/pipelines?pipeline=chat", "Pipelines");
    const { pipelines } = await read<AdminAnswer<"GET /pipelines">>("/pipelines");
    const steps = pipelines.find(({ pipeline }) => pipeline === "chat")?.steps ?? [];
    const picture = page.getByRole("group", { name: "Steps, outermost first" });
    await picture.getByText("provider", { exact: true }).waitFor();
    expect(await picture.locator(".band-name > strong").allTextContents()).toEqual(
      steps.map(({ step }) => step),
    );
    expect(await picture.locator(".band-name .place").allTextContents()).toEqual(
      steps.map(({ file, line }) => `${file}:${line}`),
    );
    // Each step is inside of the one before it.
    expect(await picture.locator(".band .band .band").count()).toBe(steps.length - 2);
    const guardrails = picture.locator(".band.shadow > .band-head");
    await guardrails.getByText("when stream: false").waitFor();
    await guardrails.getByText("would have refused 1 of 2").waitFor();
    await guardrails.getByText("input: [people]").waitFor();
    await guardrails.getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Editor" }).waitFor();
    await page.locator(".editor-place .cm-activeLine", { hasText: "mode: shadow" }).waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 18: have the coverage of the route, field for field", async () => {
    const { page } = visitor;
    await visitor.open("#/pipelines", "Pipelines");
    const { routes } = await read<AdminAnswer<"GET /config/coverage">>("/config/coverage");
    const table = page.getByRole("table", { name: "What protects each route" });
    await table.getByText("POST /v1/chat/completions", { exact: true }).waitFor();
    const rows = await table
      .locator("tbody tr")
      .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    const yes = (is: boolean): string => (is ? "yes" : "no");
    expect(rows.map((row) => row.slice(0, 9))).toEqual(
      routes.map((route) => [
        route.route,
        route.pipeline,
        yes(route.auth),
        yes(route.limits),
        yes(route.budget),
        yes(route.cost),
        route.guardrails_in.join(", ") || "none",
        route.guardrails_out.join(", ") || "none",
        route.stream,
      ]),
    );
    expect(visitor.unexpected()).toEqual([]);
  });

  it("check 16: the editor completes steps, options and names, and says what a word means", async () => {
    const { page } = visitor;
    await visitor.open("#/editor?file=pipelines/chat.yaml", "Editor");
    await lineOf(page, "guardrails").waitFor();
    await lineOf(page, "  - idempotency").click();
    await page.keyboard.press("Home");
    await page.keyboard.insertText("- { use: guardrails, with: { input: [] } }\n  ");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("End");
    for (let index = 0; index < 5; index += 1) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Control+Space");
    const option = page.locator(".cm-tooltip-autocomplete li", { hasText: "people" });
    await option.click();
    await lineOf(page, "input: [people] } }").waitFor();
    const word = page.locator(".editor-place .cm-line", { hasText: "deadline:" }).first();
    const box = await word.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + (box?.height ?? 0) / 2);
    await page.locator(".cm-meaning", { hasText: "Deadline of a request" }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    expect(visitor.unexpected()).toEqual([]);
  });
});
