/**
 * What drains: the view of it, its deadline, the bounded number; and the generation on everything
 * that a request leaves.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, configPost, configStatus, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const MAX_DRAINING = 8;
/** Longer than eight edits take on a slow machine. */
const DRAIN_MS = 10_000;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  upstream.script("endless", { kind: "reply", fault: { kind: "hang", after: 3 } });
  gateway = await startGateway(
    {
      baseUrl: upstream.baseUrl,
      server: `drain_timeout: ${DRAIN_MS}ms`,
      models: [
        "{ id: endless, targets: [{ provider: openai, model: endless }] }",
        "{ id: m, targets: [{ provider: openai, model: m }] }",
      ],
    },
    {},
    "info",
  );
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** Applies an edit that changes nothing for clients. */
async function edit(number: number): Promise<{ outcome: string; generation: number | null }> {
  const file = join(gateway.workspace.pipelinesFolder, "chat.yaml");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(/^deadline: \d+s/m, `deadline: ${600 + number}s`),
  );
  return configPost(gateway, "reload");
}

async function openStream(): Promise<{
  text: Promise<string>;
  id: string | null;
  generation: number;
}> {
  const response = await chat(gateway, { model: "endless", messages: MESSAGES, stream: true });
  return {
    text: response.text(),
    id: response.headers.get("x-request-id"),
    generation: Number(response.headers.get("x-sluice-generation")),
  };
}

interface Draining {
  readonly generation: number;
  readonly leases: number;
  readonly oldest_age_ms: number;
}

describe("a generation that was replaced", () => {
  it("shows its streams and the age of the oldest, and ends them with an error event past its deadline", async () => {
    const streams = [await openStream(), await openStream()];
    const [first] = streams;
    await edit(1);
    const { draining } = (await configStatus(gateway)) as unknown as {
      draining: readonly Draining[];
    };
    expect(draining).toMatchObject([{ generation: first?.generation, leases: 2 }]);
    expect(draining[0]?.oldest_age_ms).toBeGreaterThan(0);
    for (const { text, id, generation } of streams) {
      expect(await text).toMatch(
        /data: \{"error":\{"message":"[^"]+","type":"overloaded_error","code":503,"param":null\}\}\n\n$/,
      );
      expect(await rowsOf(gateway, id)).toMatchObject([
        { status: "partial", error_code: "overloaded", generation },
      ]);
    }
    await eventually(
      "it to close",
      async () => (await configStatus(gateway)).draining.length === 0,
    );
  });

  it(`is one of ${MAX_DRAINING} at most: the next edit waits for the first of them`, async () => {
    const streams: Awaited<ReturnType<typeof openStream>>[] = [];
    for (let number = 2; number < 2 + MAX_DRAINING; number += 1) {
      streams.push(await openStream());
      expect((await edit(number)).outcome).toBe("applied");
    }
    expect((await configStatus(gateway)).draining).toHaveLength(MAX_DRAINING);
    const last = await edit(99);
    expect(last.outcome).toBe("applied");
    const { draining, live } = await configStatus(gateway);
    expect(draining.length).toBeLessThanOrEqual(MAX_DRAINING);
    expect(live.generation).toBe(last.generation);
    expect(gateway.stderr).toContain("an edit waits until one of the old generations has drained");
    for (const { text } of streams) expect(await text).toContain('"code":503');
  });
});

describe("the generation", () => {
  it("is on the header, the row, the log line and the explanation", async () => {
    upstream.script("m", { kind: "reply", fault: { kind: "error", after: 2 } });
    const response = await chat(gateway, { model: "m", messages: MESSAGES, stream: true });
    await response.text();
    const { generation } = (await configStatus(gateway)).live;
    const id = response.headers.get("x-request-id") ?? "";
    expect(Number(response.headers.get("x-sluice-generation"))).toBe(generation);
    expect(await rowsOf(gateway, id)).toMatchObject([{ generation }]);
    const explained = await eventually("the explanation", async () => {
      const answer = await admin(gateway, `/requests/${id}`);
      return answer.status === 200 && ((await answer.json()) as { generation: number });
    });
    expect(explained.generation).toBe(generation);
    const line = await eventually("the log line", () =>
      gateway.stderr.split("\n").find((text) => text.includes(id)),
    );
    expect(JSON.parse(line)).toMatchObject({ request_id: id, generation });
  });
});
