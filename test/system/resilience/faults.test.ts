/**
 * Every fault of the catalogue through the real process: one well-formed end each, in time, and one
 * row.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createFaultUpstream,
  FAULTS,
  type FaultOutcome,
  type FaultUpstream,
  GOOD_MODE,
} from "@sluice/testing";
import { admin, chat, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { amount } from "../support/proof.ts";
import { compareTruth } from "../accounting/truth-ledger.ts";
import { createWorkspace, NEVER_EJECTS } from "../support/workspace.ts";

const DEADLINE_MS = 4_000;
/** Without the deadline the slowest faults would go on for ever. */
const GRACE_MS = 8_000;
const ROUNDS = amount(1, 3);
const AT_ONCE = 24;
const PRICE = { input: 0.15, output: 0.6 };

let upstream: FaultUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createFaultUpstream();
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    // Each fault as it is: retries and ejections are other tests'.
    attempts: 1,
    balance: NEVER_EJECTS,
    provider: "timeouts: { first_byte: 1500ms, idle: 1500ms }",
    models: ['{ id: "fault/*", targets: [{ provider: openai, model: "*" }] }'],
  });
  const price = `{ input: ${PRICE.input}, output: ${PRICE.output} }`;
  writeFileSync(
    join(workspace.folder, "config/prices.yaml"),
    `version: 1\nprices:\n  openai/*: ${price}\n`,
  );
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  writeFileSync(
    pipeline,
    readFileSync(pipeline, "utf8").replace(/^deadline: .*$/m, `deadline: ${DEADLINE_MS}ms`),
  );
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await upstream?.close();
});

/** One request and how it ended. */
interface End {
  readonly what: string;
  readonly ms: number;
  /** What is wrong with it; nothing when all is well. */
  readonly complaints: readonly string[];
}

let asked = 0;

async function ask(mode: string, stream: boolean, wanted: FaultOutcome): Promise<End> {
  const startedMs = performance.now();
  const response = await chat(gateway, {
    model: `fault/${mode}`,
    messages: MESSAGES,
    stream,
    user: `request-${asked++}`,
  });
  const text = await response.text();
  const ms = performance.now() - startedMs;
  const complaints = [
    ...(ms > DEADLINE_MS + GRACE_MS ? [`took ${ms.toFixed(0)} ms`] : []),
    ...complain(response, text, stream, wanted),
    ...(await complainOfRows(response, wanted)),
  ];
  return { what: `${mode} ${stream ? "stream" : "whole"}`, ms, complaints };
}

function complain(
  response: Response,
  text: string,
  stream: boolean,
  wanted: FaultOutcome,
): string[] {
  const late = wanted !== "good" && wanted.late === true;
  const status = wanted === "good" || late ? 200 : wanted.status;
  if (response.status !== status)
    return [`answered ${response.status}, not ${status}: ${text.slice(0, 300)}`];
  if (wanted !== "good" && !late) {
    const retryAfter = response.headers.has("retry-after");
    if (wanted.retryAfter !== undefined && retryAfter !== wanted.retryAfter)
      return ["has a wrong retry-after"];
    return complainOfError(text, wanted);
  }
  if (!stream) {
    const { choices } = JSON.parse(text) as { choices?: { message?: { content?: string } }[] };
    return choices?.[0]?.message?.content === undefined ? ["has no content"] : [];
  }
  // Comments say what was left out. Clients skip them.
  const events = text.split("\n\n").filter((event) => !event.startsWith(":"));
  if (events.pop() !== "") return ["does not end with an empty line"];
  const data = events.map((event) => event.replace(/^data: /, ""));
  const last = data.pop() ?? "";
  const odd = data.find((line) => {
    const chunk = JSON.parse(line) as { choices?: unknown };
    return !Array.isArray(chunk.choices);
  });
  if (odd !== undefined) return [`has an event that is no chunk: ${odd}`];
  if (wanted === "good") return last === "[DONE]" ? [] : [`ends with ${last.slice(0, 300)}`];
  return text.includes("[DONE]")
    ? ["has an end mark behind an error"]
    : complainOfError(last, wanted);
}

function complainOfError(text: string, wanted: { status: number; type: string }): string[] {
  const { error } = JSON.parse(text) as {
    error?: { message: unknown; type: unknown; code: unknown };
  };
  const well =
    typeof error?.message === "string" &&
    error.type === wanted.type &&
    error.code === wanted.status;
  return well ? [] : [`says ${text.slice(0, 300)}`];
}

async function complainOfRows(response: Response, wanted: FaultOutcome): Promise<string[]> {
  const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
  const status = wanted === "good" ? "success" : wanted.late ? "partial" : "failure";
  const said = rows.map((row) => row.status).join();
  return said === status ? [] : [`has the rows ${said}, not ${status}`];
}

describe("the fault matrix", () => {
  const cases = FAULTS.flatMap(({ mode, whole, stream }) => [
    { mode, stream: false, wanted: whole },
    { mode, stream: true, wanted: stream },
  ]).flatMap(({ mode, stream, wanted }) =>
    wanted === undefined ? [] : [{ mode, stream, wanted }],
  );

  it(`ends ${cases.length} requests, ${ROUNDS} times, each in one way`, async () => {
    const ends: End[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const waiting = [...cases];
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const { mode, stream, wanted } = next;
          const what = `${mode} ${stream ? "stream" : "whole"}`;
          ends.push(
            await ask(mode, stream, wanted).catch((error: unknown) => ({
              what,
              ms: 0,
              complaints: [String(error)],
            })),
          );
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      // The connections that are left must serve as if nothing had been.
      for (const stream of [false, true]) ends.push(await ask(GOOD_MODE, stream, "good"));
    }
    const sorted = ends.map(({ ms }) => ms).toSorted((a, b) => a - b);
    const wrong = ends.filter(({ complaints }) => complaints.length > 0);
    const open = await eventually(
      "connections to be given back",
      () => upstream.connections.open <= AT_ONCE && { open: upstream.connections.open },
    );
    console.table({
      modes: FAULTS.length,
      requests: ends.length,
      "wrong ends": wrong.length,
      "median ms": Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
      "slowest ms": Math.round(sorted.at(-1) ?? 0),
      "bound ms": DEADLINE_MS + GRACE_MS,
      "upstream requests": upstream.requests.length,
      "connections opened": upstream.connections.opened,
      "connections open at the end": open.open,
    });
    expect(wrong.map(({ what, complaints }) => `${what}: ${complaints.join("; ")}`)).toEqual([]);
    // Where the fault is a connection that closes without a word, a used one is stale, and its
    // request is sent once more.
    const isReplayable = (mode: string): boolean => mode.startsWith("u7-");
    const received = upstream.requests.filter(({ mode }) => !isReplayable(mode));
    expect(received).toHaveLength(ends.filter(({ what }) => !isReplayable(what)).length);
  });
});

describe("a stream that is cut behind its first content", () => {
  it("ends in an error event, 40 of 40, and never with [DONE]", async () => {
    const cuts = FAULTS.filter(
      ({ stream }) => stream !== undefined && stream !== "good" && stream.late === true,
    );
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { mode = "" } = cuts[index % cuts.length] ?? {};
        const user = `request-${asked++}`;
        const response = await chat(gateway, {
          model: `fault/${mode}`,
          messages: MESSAGES,
          stream: true,
          user,
        });
        const text = await response.text();
        return (
          response.status === 200 &&
          /data: \{"error":\{[^\n]*\n\n$/.test(text) &&
          !text.includes("[DONE]")
        );
      }),
    );
    const well = outcomes.filter(Boolean).length;
    console.table({
      "kinds of cuts": cuts.length,
      streams: outcomes.length,
      "with an error event and no [DONE]": well,
    });
    expect(well).toBe(40);
  });
});

describe("the upstream's own ledger", () => {
  it("agrees with the spend rows of all of this", async () => {
    const { discrepancies, ...figures } = await compareTruth(gateway, upstream.requests, PRICE);
    console.table({ ...figures, discrepancies: discrepancies.length });
    expect(discrepancies).toEqual([]);
    const { deployments } = (await (await admin(gateway, "/deployments")).json()) as {
      deployments: { in_flight: number }[];
    };
    expect(deployments.map(({ in_flight: count }) => count)).toEqual(deployments.map(() => 0));
  });
});
