/** Guardrails: shadow beside enforced, the requests that it means, and the word to delete. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat } from "../system/support/client.ts";
import { guardedWorkspace } from "../system/guardrails/guardrails.fixture.ts";
import { createUpstream, type Upstream } from "@sluice/testing";
import { type GatewayProcess, startOwnProcess } from "../system/support/gateway-process.ts";
import { CHROMIUM } from "./support/chromium.ts";
import { sharedBrowser } from "./support/shared.ts";
import { serveDashboard, type Site } from "./support/site.ts";
import { visit } from "./support/visit.ts";

describe.skipIf(CHROMIUM === undefined)("the screen of guardrails", () => {
  let upstream: Upstream;
  let gateway: GatewayProcess;
  let site: Site;

  beforeAll(async () => {
    upstream = await createUpstream();
    const workspace = guardedWorkspace({
      baseUrl: upstream.baseUrl,
      guardrails: [
        "no-bad: { use: forbid, word: bad-word }",
        "watch: { use: forbid, word: watched, mode: shadow }",
      ],
      step: "{ input: [no-bad, watch] }",
    });
    gateway = await startOwnProcess(workspace);
    site = await serveDashboard(gateway.adminUrl);
    for (const content of ["hello", "hello", "a bad-word", "watched one", "watched two"]) {
      const messages = [{ role: "user", content }];
      await (await chat(gateway, { model: "gpt-4o-mini", messages })).text();
    }
  }, 120_000);

  afterAll(async () => {
    await site?.close();
    await gateway?.dispose();
    await upstream?.close();
  });

  it("says what shadow would have blocked, of how many, and where to delete which word", async () => {
    await using visitor = await visit(await sharedBrowser(), site);
    const { page } = visitor;
    await visitor.signIn(gateway.masterKey);
    await visitor.open("#/guardrails", "Guardrails");
    const panel = page.getByRole("region", { name: "POST /v1/chat/completions", exact: true });
    await panel.getByText("5 requests checked").waitFor();
    await panel.getByText("blocked 1 of 5").waitFor();
    await panel.getByText("would have blocked 2 of 5").waitFor();
    await panel.getByText("delete mode: shadow in").waitFor();
    await panel.getByRole("link", { name: /gateway\.yaml:\d+/ }).waitFor();
    await panel.getByRole("link", { name: "watch" }).click();
    await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
    expect(page.url()).toContain("guardrail=watch");
    await page.getByText("2 newest requests, live").waitFor();
    expect(visitor.unexpected()).toEqual([]);
  });
});
