/**
 * One key holds or breaks a guardrail that keys share, a service or a thread; the requests of
 * another key are judged meanwhile.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const THREADED = `
import { defineGuardrail } from "@sluice/kit";

export default defineGuardrail({
  name: "threaded",
  stability: "experimental",
  summary: "Judges in threads.",
  config: { type: "object", properties: {} },
  sample: () => "forbidden",
  create: () => ({
    reach: Infinity,
    check(text) {
      if (text.includes("forbidden")) return { kind: "block", reason: "word" };
      return text.includes("SLOW") ? new Promise(() => {}) : { kind: "allow" };
    },
  }),
});
`;

const VICTIM_REQUESTS = 10;
/** What a key has of six connections or threads beside another key: a half of what is free. */
const PART = 3;

/** Answers SLOW never, BROKEN with 500, and forbids a word. */
const service: Server = createServer((request, response) => {
  let raw = "";
  request.setEncoding("utf8").on("data", (chunk: string) => (raw += chunk));
  request.on("end", () => {
    const { text } = JSON.parse(raw) as { readonly text: string };
    asked.push(text);
    if (text.includes("SLOW")) return;
    const start = text.indexOf("forbidden");
    const answer =
      start < 0 ? { action: "allow" } : { action: "block", reason: "word", start, end: start + 9 };
    response.writeHead(text.includes("BROKEN") ? 500 : 200).end(JSON.stringify(answer));
  });
});
const asked: string[] = [];
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const workspace = createWorkspace({ baseUrl: upstream.baseUrl, attempts: 1 });
  mkdirSync(join(workspace.folder, "my-plugins"));
  writeFileSync(join(workspace.folder, "my-plugins/threaded.ts"), THREADED);
  const text = readFileSync(workspace.configPath, "utf8").replace(
    "plugins:\n",
    "plugins:\n  - ../my-plugins/threaded.ts\n",
  );
  const common = "scope: [user], budget_ms: 2000";
  workspace.write(`${text}guardrails:
  service: { use: http, url: "${url}", sample: forbidden, connections: 6, timeout: 30s, ${common} }
  threads: { use: threaded, isolation: worker, worker_threads: 6, ${common} }
`);
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  service.closeAllConnections();
  service.close();
  await upstream?.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function newKey(): Promise<string> {
  return ((await (await admin(gateway, "/key/generate", {})).json()) as { key: string }).key;
}

async function ask(key: string, guardrail: string, content: string): Promise<Answer> {
  const body = {
    model: "gpt-4o-mini",
    guardrails: [guardrail],
    messages: [{ role: "user", content }],
  };
  const response = await chat(gateway, body, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, text: await response.text() };
}

async function victimAsks(key: string, guardrail: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < VICTIM_REQUESTS; n += 1)
    statuses.push((await ask(key, guardrail, `fine ${n}`)).status);
  return statuses;
}
const ALL_WELL = Array.from({ length: VICTIM_REQUESTS }, () => 200);

describe.concurrent.each(["service", "threads"])(
  "a guardrail that keys share (%s)",
  (guardrail) => {
    it("has a part for each key, and a wait for it is no failure of the guardrail", async () => {
      const [attacker, victim] = [await newKey(), await newKey()];
      expect((await ask(victim, guardrail, "fine")).status).toBe(200);
      const before = asked.length;
      const answers: Answer[] = [];
      const all = Array.from({ length: 20 }, (_, n) =>
        ask(attacker, guardrail, `SLOW ${n}`).then((answer) => void answers.push(answer)),
      );
      if (guardrail === "service")
        await eventually("the calls", () => asked.length >= before + PART);
      expect(await victimAsks(victim, guardrail)).toEqual(ALL_WELL);
      await Promise.all(all);
      const waited = answers.filter(({ status }) => status === 503);
      // A check may get its place just before its budget ends; it then counts as one that waited.
      const judged = answers.length - waited.length;
      expect(judged).toBeGreaterThan(0);
      expect(judged).toBeLessThanOrEqual(PART);
      // The wait for a place and the budget of the check end together; either may refuse.
      const refusal = new RegExp(
        `The guardrail ${guardrail} had no free place (?:for this key )?within 2000 ms`,
        "u",
      );
      for (const { text } of waited) expect(text).toMatch(refusal);
      // Three judgements were late, too few to leave the guardrail alone; those that waited do not
      // count.
      expect((await ask(attacker, guardrail, "fine")).status).toBe(200);
      expect(await victimAsks(victim, guardrail)).toEqual(ALL_WELL);
    });
  },
);

describe("a guardrail that fails for the texts of one key", () => {
  it("is left alone by that key only", async () => {
    const [attacker, victim] = [await newKey(), await newKey()];
    for (let n = 0; n < 5; n += 1)
      expect((await ask(attacker, "service", `BROKEN ${n}`)).status).toBe(500);
    const before = asked.length;
    expect((await ask(attacker, "service", "fine")).status).toBe(500);
    expect(asked.length).toBe(before);
    expect(await victimAsks(victim, "service")).toEqual(ALL_WELL);
  });
});
