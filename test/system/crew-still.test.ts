/** A worker that stands still, and starts in the middle of which something happens: side by side, for most of it is waiting. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/kit/testing";
import { admin, chat, MESSAGES } from "./client.ts";
import { childrenOf, createCrewWorkspace, crewStatus, lives, pidsOf, restartCrew, SIZE, wholeCrew } from "./crew-workspace.ts";
import { eventually } from "./eventually.ts";
import { startGateway } from "./gateway-process.ts";

let upstream: Upstream;

beforeAll(async () => {
  upstream = await createUpstream();
});
afterAll(() => upstream?.close());

/** Code that keeps the event loop from coming round, for good or so long, and the processor free for others. */
const standStill = (forMs = "Infinity"): string => `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${forMs});`;

describe.concurrent("a crew", () => {
  it("hides no worker because another stands still, and kills that one when it does not end", async () => {
    const workspace = createCrewWorkspace(upstream.baseUrl, "drain_timeout: 1s");
    workspace.writeStep({ run: `if (exchange.request.model === "openai/still") ${standStill()}` });
    const gateway = await startGateway(workspace);
    try {
      const before = await wholeCrew(gateway);
      const lost = chat(gateway, { model: "openai/still", messages: MESSAGES }).catch(() => "cut");
      const seen = await eventually(
        "a status without it",
        async () => {
          const now = await crewStatus(gateway);
          return now.workers.length === SIZE - 1 && now;
        },
        20_000,
      );
      const still = before.workers.filter(({ pid }) => !pidsOf(seen).includes(pid)).map(({ pid }) => pid);
      expect(still).toHaveLength(1);
      const looks = ["/metrics", "/key/list"].map((path) => admin(gateway, path));
      expect(await restartCrew(gateway)).toMatchObject({ outcome: "restarted", replaced: SIZE });
      expect((await Promise.all(looks)).map(({ status }) => status)).toEqual([200, 200]);
      await eventually("its end", () => !still.some(lives), 30_000);
      expect(await lost).toBe("cut");
      expect(gateway.stderr).toContain("a worker did not end by itself and is killed");
      await wholeCrew(gateway, pidsOf(before));
    } finally {
      await gateway.dispose();
    }
  });

  it("misses no edit that is saved while it starts", async () => {
    const workspace = createCrewWorkspace(upstream.baseUrl);
    const marker = join(workspace.folder, "in-the-middle");
    const slow = `if (!globalThis.hasWaited) {
      globalThis.hasWaited = true;
      process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(marker)}, "");
      ${standStill("700")}
    }`;
    workspace.writeStep({ create: slow });
    const starting = startGateway(workspace);
    // The first worker has read the files and stands still for a moment.
    await eventually("the middle of the start", () => existsSync(marker), 20_000);
    workspace.writeWord("second");
    const gateway = await starting;
    try {
      expect(childrenOf(gateway.pid)).toHaveLength(SIZE);
      await eventually("the edit", async () => {
        const said = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
        return (await wholeCrew(gateway)).workers_agree && said.headers.get("x-said") === "second";
      });
    } finally {
      await gateway.dispose();
    }
  });

  it("that is a single process says so to who wants it restarted, and lives", async () => {
    const gateway = await startGateway({ baseUrl: upstream.baseUrl });
    try {
      gateway.signal("SIGUSR2");
      await eventually("the sentence", () => gateway.stderr.includes("This gateway is a single process"));
      expect((await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).status).toBe(200);
    } finally {
      await gateway.dispose();
    }
  });
});
