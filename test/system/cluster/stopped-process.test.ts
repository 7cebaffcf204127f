/**
 * A process that the system stops for longer than every limit: no plugin is named for it, and no
 * worker is ended.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES } from "../support/client.ts";
import {
  childrenOf,
  createClusterWorkspace,
  pidsOf,
  waitForWorkers,
} from "../support/cluster-workspace.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

/**
 * Longer than a busy machine lets a process wait that is not stopped. A stop is longer than this.
 */
const WARNING = "block_warning: 500ms";
const STOP_MS = 1_200;
const LONG_STOP_MS = 4_500;
const BODY = { model: "gpt-4o-mini", messages: MESSAGES };

let upstream: Upstream;

beforeAll(async () => {
  upstream = await createUpstream();
});
afterAll(() => upstream?.close());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Stops processes, the first one first, for a time, and lets them go on in the other order. */
async function stand(pids: readonly number[], ms: number): Promise<void> {
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  await pause(ms);
  for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT");
}

/** Requests one after another, while `during` runs. */
async function underLoad(gateway: GatewayProcess, during: () => Promise<void>): Promise<void> {
  const state = { isOver: false };
  const load = (async () => {
    while (!state.isOver) await (await chat(gateway, BODY)).arrayBuffer();
  })();
  await during();
  state.isOver = true;
  await load;
}

const complaints = ({ stderr }: GatewayProcess): string[] =>
  stderr.split("\n").filter((line) => /event loop|blocked|holds up|ended and replaced/.test(line));

describe.concurrent("a stopped process", () => {
  it("names no plugin, at any moment of its turns", async () => {
    const gateway = await startGateway({
      baseUrl: upstream.baseUrl,
      server: WARNING,
    });
    try {
      await underLoad(gateway, async () => {
        for (let round = 0; round < 12; round++) {
          await stand([gateway.pid], round === 0 ? LONG_STOP_MS : STOP_MS);
          await pause(100 + round * 7);
        }
      });
      expect((await chat(gateway, BODY)).status).toBe(200);
      expect(complaints(gateway)).toEqual([]);
    } finally {
      await gateway.dispose();
    }
  });

  it("keeps its workers", async () => {
    const gateway = await startGateway(
      createClusterWorkspace(upstream.baseUrl, "hung_worker_timeout: 2s"),
    );
    try {
      const before = pidsOf(await waitForWorkers(gateway));
      await underLoad(gateway, async () => {
        for (let round = 0; round < 2; round++) {
          const [one = 0, two = 0] = childrenOf(gateway.pid);
          await stand([gateway.pid, one, two], LONG_STOP_MS);
          await pause(1_500);
          await stand([one, two, gateway.pid], LONG_STOP_MS);
          await pause(1_500);
        }
      });
      expect(pidsOf(await waitForWorkers(gateway)).toSorted()).toEqual(before.toSorted());
      expect(complaints(gateway)).toEqual([]);
    } finally {
      await gateway.dispose();
    }
  });
});
