/** The report of guardrails: sums by day that outlive the process, enforced beside shadow. */

import { expect, it } from "vitest";
import type { AdminAnswer } from "@sluice/admin-api";
import { createUpstream } from "@sluice/testing";
import { guardedWorkspace, type GuardedOptions } from "../../guardrails/guardrails.fixture.ts";
import { admin, chat, createKey } from "../client.ts";
import { eventually } from "../eventually.ts";
import { startGateway, startOwnProcess } from "../gateway-process.ts";

type Report = AdminAnswer<"GET /guardrails/report">;

/** The test with a number of workers. Call it in a `describe`. */
export function guardrailReportTest(workers: 1 | 2, more: Partial<GuardedOptions> = {}): void {
  const start = workers === 1 ? startGateway : startOwnProcess;

  it("counts each request once, over a restart, and names the word to delete", async () => {
    const upstream = await createUpstream();
    const workspace = guardedWorkspace({
      baseUrl: upstream.baseUrl,
      server: `workers: ${workers}`,
      attempts: 1,
      guardrails: [
        "no-bad: { use: forbid, word: bad-word }",
        "watch: { use: forbid, word: watched, mode: shadow }",
        "mask: { use: forbid, word: maskme, action: mask }",
      ],
      step: "{ input: [no-bad, watch, mask], output: [watch] }",
      ...more,
    });
    let gateway = await start(workspace);
    const { key } = await createKey(gateway, {});
    const ask = async (content: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` };
      const body = { model: "gpt-4o-mini", messages: [{ role: "user", content }] };
      const response = await chat(gateway, body, { headers });
      await response.text();
      return response.status;
    };
    const read = async (): Promise<Report> => {
      const response = await admin(gateway, "/guardrails/report?window=1d");
      const text = await response.text();
      expect([response.status, text.includes("a secret text")]).toEqual([200, false]);
      return JSON.parse(text) as Report;
    };
    // More refusals than have rows of their own.
    const REFUSED = 70;
    for (let index = 0; index < REFUSED; index++)
      expect(await ask("a secret text with a bad-word")).toBe(400);
    for (const text of ["hello", "watched watched", "please maskme"])
      expect(await ask(text)).toBe(200);
    const first = await read();
    expect(first.routes[0]?.requests).toBeGreaterThanOrEqual(3);
    // A restart writes the counts of refusals that have no row yet.
    await gateway.stop();
    gateway = await start(workspace);
    const { routes, days, guardrails } = await eventually(
      "all requests to be counted",
      async () => {
        const report = await read();
        return (report.routes[0]?.requests ?? 0) >= REFUSED + 3 ? report : undefined;
      },
    );
    expect(routes).toEqual([
      {
        route: "POST /v1/chat/completions",
        requests: REFUSED + 3,
        guardrails: expect.arrayContaining([
          line("no-bad", "input", "enforce", { block: REFUSED }),
          line("watch", "input", "shadow", { block: 1 }),
          line("mask", "input", "enforce", { edit: 1 }),
        ]),
      },
    ]);
    expect(days.at(-1)).toMatchObject({
      requests: REFUSED + 3,
      blocked: REFUSED,
      edited: 1,
      would_have_blocked: 1,
    });
    expect(guardrails.map(({ guardrail, word }) => [guardrail, word])).toEqual([
      ["no-bad", null],
      ["watch", "mode: shadow"],
      ["mask", null],
    ]);
    const listed = (await (
      await admin(gateway, "/requests?guardrail=watch")
    ).json()) as AdminAnswer<"GET /requests">;
    expect(listed.requests.length).toBe(1);
    await gateway.dispose();
    await upstream.close();
  }, 120_000);
}

function line(guardrail: string, direction: string, mode: string, requests: object): object {
  return {
    guardrail,
    direction,
    mode,
    requests: { block: 0, edit: 0, error: 0, ask_again: 0, ...requests },
  };
}
