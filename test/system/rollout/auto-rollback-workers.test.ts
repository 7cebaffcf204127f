/** Going back by itself with several workers: what one of them finds holds for all. */

import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, configPost, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

const OPTIONS = {
  server: "workers: 2, auto_rollback: { min_requests: 10, for: 10m }",
  attempts: 1,
  balance: NEVER_EJECTS,
};
const target = (name: string): string =>
  `{ id: m, targets: [{ provider: openai, model: ${name} }] }`;

interface Status {
  readonly live: {
    readonly generation: number;
    readonly contents_of: number | null;
    readonly reason: string | null;
  };
  readonly workers_agree: boolean;
  readonly workers: readonly { readonly generation: number }[];
}

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  upstream.script("bad", { kind: "error", status: 500, message: "no" });
  gateway = await startGateway({ ...OPTIONS, baseUrl: upstream.baseUrl, models: [target("real")] });
});
afterAll(async () => {
  connection.destroy();
  await gateway?.dispose();
  await upstream?.close();
});

/** One connection, which one worker holds. */
const connection = new Agent({ keepAlive: true, maxSockets: 1 });

/** Asks one after the other, on that connection: the other worker sees nothing. */
async function ask(times: number): Promise<number[]> {
  const statuses: number[] = [];
  const headers = {
    authorization: `Bearer ${gateway.masterKey}`,
    "content-type": "application/json",
  };
  for (let count = 0; count < times; count += 1) {
    const asked = request(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      agent: connection,
      headers,
    });
    asked.end(JSON.stringify({ model: "m", messages: MESSAGES, user: `number ${count}` }));
    const [reply] = (await once(asked, "response")) as [IncomingMessage];
    await buffer(reply);
    statuses.push(reply.statusCode ?? 0);
  }
  return statuses;
}
const status = async (): Promise<Status> =>
  (await (await admin(gateway, "/config/status")).json()) as Status;

describe("an edit whose requests fail in one of several workers", () => {
  it("is left by all of them, with one number and one reason", async () => {
    expect(new Set(await ask(20))).toEqual(new Set([200]));
    const before = (await status()).live.generation;
    gateway.workspace.write(
      gateway.workspace.config({ ...OPTIONS, baseUrl: upstream.baseUrl, models: [target("bad")] }),
    );
    // The watcher may have applied the edit by itself.
    expect((await configPost(gateway, "reload")).generation).toBe(before + 1);
    expect(new Set(await ask(10))).toEqual(new Set([502]));
    await eventually("every worker to be back", async () => {
      const { workers, workers_agree: agree } = await status();
      return agree && workers.every(({ generation }) => generation === before + 2);
    });
    const { live } = await status();
    expect(live).toMatchObject({ generation: before + 2, contents_of: before });
    expect(live.reason).toMatch(/^\d+ of the first \d+ requests of generation \d+ failed/);
    expect(await ask(1)).toEqual([200]);
  });
});
