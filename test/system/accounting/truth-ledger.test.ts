/**
 * Two books: what the upstreams say they received and billed, and the gateway's rows. They agree
 * after every kind of traffic.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createFaultUpstream,
  type FaultRecord,
  type FaultUpstream,
  GOOD_MODE,
} from "@sluice/testing";
import { admin, chat, createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { compareTruth } from "./truth-ledger.ts";
import { createWorkspace, NEVER_EJECTS } from "../support/workspace.ts";

const PRICE = { input: 0.15, output: 0.6 };
const REQUESTS = 400;
const AT_ONCE = 16;
const KEYS = 3;

/**
 * What is asked for in turn. Odd lengths, so that every mode meets every key, and both kinds of
 * reply.
 */
const MODES = [
  GOOD_MODE,
  "u39-500",
  GOOD_MODE,
  "u17-fin",
  "u18-reset",
  GOOD_MODE,
  "u7-fin",
  "u36-429-seconds",
  "u55-no-usage",
  GOOD_MODE,
  "u21-error-later",
  "u7-reset",
  "u24-no-choices",
  "u16-bytes",
  "u13-hang",
  "u43-endless",
  "u42-404",
];
/** Requests whose client leaves before the end. */
const ABORTED = new Set(["u43-endless", "u13-hang"]);
/**
 * Models by prefix: `plain/` has retries, `saved/` another upstream behind it, `dead/` begins with
 * one that refuses.
 */
const PREFIXES = ["plain", "saved", "plain", "dead", "saved"];

let first: FaultUpstream;
let second: FaultUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  [first, second] = await Promise.all([createFaultUpstream(), createFaultUpstream()]);
  const key = 'api_key: "${env:OPENAI_API_KEY}"';
  const limits = "timeouts: { first_byte: 1500ms, idle: 1500ms }";
  const workspace = createWorkspace({
    baseUrl: first.baseUrl,
    // Ejections have a test of their own; here every request reaches a target.
    balance: NEVER_EJECTS,
    provider: limits,
    providers: [
      `second: { use: openai, ${key}, base_url: "${second.baseUrl}", ${limits} }`,
      `dead: { use: openai, ${key}, base_url: "http://127.0.0.1:1/v1" }`,
    ],
    models: [
      '{ id: "plain/*", targets: [{ provider: openai, model: "*" }] }',
      '{ id: "saved/*", targets: [{ provider: openai, model: "*" }], fallbacks: { general: [spare] } }',
      '{ id: "dead/*", targets: [{ provider: dead, model: "*" }], fallbacks: { general: [spare] } }',
      "{ id: spare, targets: [{ provider: second, model: good }] }",
    ],
  });
  const price = `{ input: ${PRICE.input}, output: ${PRICE.output} }`;
  writeFileSync(
    join(workspace.folder, "config/prices.yaml"),
    `version: 1\nprices:\n  openai/*: ${price}\n`,
  );
  gateway = await startGateway(workspace);
  await eventually("exact counts", async () => {
    const user = `warm-${first.requests.length}`;
    const response = await chat(gateway, {
      model: "plain/u55-no-usage",
      messages: MESSAGES,
      stream: true,
      user,
    });
    await response.text();
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    return row?.completion_tokens === 4;
  });
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await first?.close();
  await second?.close();
});

/**
 * Sends one request, and reads it to its end, or leaves it at its first bytes. Returns how it
 * ended.
 */
async function send(number: number, keys: readonly string[]): Promise<string> {
  const mode = MODES[number % MODES.length] ?? GOOD_MODE;
  const prefix = PREFIXES[number % PREFIXES.length] ?? "plain";
  const isLeft = ABORTED.has(mode);
  const leaving = new AbortController();
  const body = {
    model: `${prefix}/${mode}`,
    messages: MESSAGES,
    stream: isLeft || number % 2 === 0,
    user: `request-${number}`,
  };
  try {
    const headers = { authorization: `Bearer ${keys[number % keys.length]}` };
    const response = await chat(gateway, body, { headers, signal: leaving.signal });
    if (isLeft) {
      await response.body?.getReader().read();
      leaving.abort();
      return "left";
    }
    const text = await response.text();
    return response.ok && !text.includes('"error"') ? "well" : "failed";
  } catch {
    return "broken";
  }
}

/** What both received, in the order of arrival. A fallback comes after what it replaces. */
const records = (): FaultRecord[] =>
  [...first.requests, ...second.requests].toSorted((a, b) => a.receivedAtMs - b.receivedAtMs);

describe("the truth ledger and the spend rows", () => {
  it(`agree row for row after ${REQUESTS} requests of all kinds`, async () => {
    const keys: string[] = [];
    for (let index = 0; index < KEYS; index++)
      keys.push((await createKey(gateway, { key_alias: `key-${index}` })).key);
    const ends: string[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < REQUESTS) ends.push(await send(next++, keys));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // Rows of those who left are written behind them.
    const truth = await eventually(
      "the books to be closed",
      async () => {
        const found = await compareTruth(gateway, records(), PRICE);
        return found.requests >= REQUESTS && found.discrepancies.length === 0 && found;
      },
      3_000,
    ).catch(() => compareTruth(gateway, records(), PRICE));
    const { discrepancies, ...figures } = truth;
    const count = (end: string): number => ends.filter((one) => one === end).length;
    console.table({
      ...figures,
      discrepancies: discrepancies.length,
      well: count("well"),
      failed: count("failed"),
      left: count("left"),
      broken: count("broken"),
    });
    expect(discrepancies).toEqual([]);
    expect(count("broken")).toBe(0);
    expect(
      Math.min(
        figures["as reported"],
        figures.estimated,
        figures["failed unbilled"],
        figures["not received"],
      ),
    ).toBeGreaterThan(0);
    expect(figures["nano-dollars"]).toBeGreaterThan(0);
    // The oracle sees what is wrong: another price, a request that no upstream received, one that
    // has no row.
    const sum = async (changed: readonly FaultRecord[], price = PRICE): Promise<number> =>
      (await compareTruth(gateway, changed, price)).discrepancies.length;
    const billed = records().find((record) => record.user === "request-0");
    expect(await sum(records(), { ...PRICE, output: 0.61 })).toBeGreaterThan(0);
    expect(await sum(records().filter((record) => record !== billed))).toBe(1);
    expect(await sum([...records(), { ...(billed as FaultRecord), user: "unknown" }])).toBe(1);
    const { deployments } = (await (await admin(gateway, "/deployments")).json()) as {
      deployments: { in_flight: number; queued: number }[];
    };
    expect(deployments.every((one) => one.in_flight === 0 && one.queued === 0)).toBe(true);
  });
});
