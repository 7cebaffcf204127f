/**
 * A full disk under load: it is found before an upstream is called, shown, and over by itself; no
 * row is lost or doubled.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { amount } from "../support/proof.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

/** How long the disk is full, and how often it is asked meanwhile. */
const FULL_MS = amount(1_500, 10_000);
const EVERY_MS = 20;
const DISK = "48m";

const workspace: Workspace = createWorkspace();
mkdirSync(workspace.dataDirectory);
const mounted = spawnSync("mount", [
  "-t",
  "tmpfs",
  "-o",
  `size=${DISK}`,
  "tmpfs",
  workspace.dataDirectory,
]);
const mayMount = mounted.status === 0;
afterAll(() => {
  if (mayMount) spawnSync("umount", ["-l", workspace.dataDirectory]);
  workspace.remove();
});

describe.skipIf(!mayMount)(
  `a full disk (a tmpfs of ${DISK}; skipped where this user may not mount one)`,
  () => {
    let upstream: Upstream;
    let gateway: GatewayProcess;
    beforeAll(async () => {
      upstream = await createUpstream();
      workspace.write(workspace.config({ baseUrl: upstream.baseUrl }));
      gateway = await startGateway(workspace);
    });
    afterAll(async () => {
      await gateway?.kill();
      await upstream?.close();
    });

    const filler = join(workspace.dataDirectory, "filler");
    const fill = (): void => {
      try {
        writeFileSync(filler, Buffer.alloc(64 * 2 ** 20));
      } catch {
        // It takes what there is.
      }
    };
    const ready = async (): Promise<number> =>
      (await fetch(`${gateway.publicUrl}/health/ready`)).status;
    const metric = async (name: string): Promise<string | undefined> => {
      const text = await (await admin(gateway, "/metrics")).text();
      return new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1];
    };

    it("refuses requests before any upstream is called, and loses and doubles no row", async () => {
      const statuses = new Map<string, number>();
      const faults: string[] = [];
      const over = new AbortController();
      const work = async (stream: boolean): Promise<void> => {
        const response = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES, stream });
        const text = await response.text();
        if (response.status === 503 && response.headers.get("retry-after") !== "5")
          faults.push("503 without retry-after");
        const isWhole = !stream || text.endsWith("data: [DONE]\n\n") || text.includes('"error"');
        if (response.status === 200 && !isWhole)
          faults.push(`a stream without an end: ${text.slice(-200)}`);
        const id = response.headers.get("x-request-id") ?? "";
        statuses.set(id, response.status);
      };
      const load = (async () => {
        const sent: Promise<void>[] = [];
        for (let count = 0; !over.signal.aborted; count += 1) {
          sent.push(work(count % 2 === 0));
          await pause(EVERY_MS);
        }
        await Promise.all(sent);
      })();
      await eventually("some replies", () => statuses.size > 10);
      fill();
      await eventually("the refusals", async () => (await ready()) === 503);
      // What was let in before has been called.
      await eventually(
        "the end of what was under way",
        async () => (await metric("sluice_requests_in_flight")) === "0",
      );
      const callsBefore = upstream.requests.length;
      const refusedBefore = [...statuses.values()].filter((status) => status === 503).length;
      await pause(FULL_MS);
      const calls = upstream.requests.length - callsBefore;
      const refused =
        [...statuses.values()].filter((status) => status === 503).length - refusedBefore;
      expect(refused).toBeGreaterThan(FULL_MS / EVERY_MS / 4);
      expect(calls).toBeLessThanOrEqual(Math.ceil(FULL_MS / 1_000));
      expect(await metric("sluice_ledger_writable")).toBe("0");
      const status = (await (await admin(gateway, "/config/status")).json()) as {
        ledger: { fault: { text: string } | null };
      };
      expect(status.ledger.fault?.text).toMatch(/disk/);
      expect((await fetch(`${gateway.publicUrl}/health/live`)).status).toBe(200);

      rmSync(filler);
      await eventually("the end of the refusals", async () => (await ready()) === 200, 10_000);
      expect(await metric("sluice_ledger_writable")).toBe("1");
      const goodBefore = [...statuses.values()].filter((status) => status === 200).length;
      await eventually(
        "replies",
        () => [...statuses.values()].filter((status) => status === 200).length > goodBefore + 5,
      );
      over.abort();
      await load;
      expect(faults).toEqual([]);

      const called = upstream.requests.length;
      const attempted = (rows: readonly SpendRow[]): readonly SpendRow[] =>
        rows.filter(({ attempt }) => attempt > 0);
      const rows = await eventually("the rows of all calls", async () => {
        const found = await spendRows(gateway, { limit: "1000" });
        return attempted(found).length >= called ? found : undefined;
      });
      expect(attempted(rows)).toHaveLength(called);
      expect(new Set(rows.map((row) => `${row.request_id}:${row.attempt}`)).size).toBe(rows.length);
      const good = [...statuses].filter(([, code]) => code === 200).map(([id]) => id);
      const known = new Set(rows.map(({ request_id: id }) => id));
      expect(good.filter((id) => !known.has(id))).toEqual([]);
      const lines = gateway.stderr.split("\n").filter((line) => line !== "");
      console.log(
        `full for ${FULL_MS} ms: ${refused} refused, ${calls} upstream calls; ${called} calls in all, ${attempted(rows).length} rows; ${lines.length} log lines`,
      );
      expect(lines.length).toBeLessThan(40);
      expect(await metric("sluice_ledger_kept_rows")).toBe("0");
    });
  },
);
