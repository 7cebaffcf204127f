import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { amount } from "@sluice/testing";
import { createLedger } from "./ledger.ts";
import { openOutbox } from "../outbox/outbox.ts";
import { openFileStore } from "../testing/file-store.ts";
import { createRecordingLog, systemClock } from "../testing/recording-log.ts";

const FIXTURE = fileURLToPath(new URL("../testing/append-until-killed.ts", import.meta.url));
const KILLS = amount(4, 10);

test(
  "keeps every acknowledged row exactly once, wherever the process is killed",
  { timeout: 120_000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-crash-"));
    const acknowledged: string[] = [];
    for (let round = 0; round < KILLS; round++) {
      acknowledged.push(...(await recordUntilKilled(directory, `p${round}`, Math.random() * 250)));
    }

    const outbox = openOutbox({ directory });
    const store = openFileStore(join(directory, "store.db"));
    const ledger = createLedger({ outbox, store, log: createRecordingLog(), clock: systemClock });
    await ledger.flush();
    const counts = store.counts();
    expect(acknowledged.length).toBeGreaterThan(KILLS);
    expect(acknowledged.filter((id) => counts.get(id) !== 1)).toEqual([]);
    expect(outbox.pendingBatches).toBe(0);
    await ledger.stop();
    outbox.close();
    store.close();
    rmSync(directory, { recursive: true });
  },
);

/**
 * Runs the fixture, kills it this long after its first acknowledgement, and returns the
 * acknowledged ids.
 */
async function recordUntilKilled(
  directory: string,
  prefix: string,
  lifeMs: number,
): Promise<string[]> {
  const child = spawn(process.execPath, [FIXTURE, directory, prefix], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let complaints = "";
  child.stderr.on("data", (part) => (complaints += String(part)));
  child.stdout.on("data", (part) => {
    if (output === "") setTimeout(() => child.kill("SIGKILL"), lifeMs);
    output += String(part);
  });
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | null>();
  child.on("close", (_code, signal) => resolve(signal));
  if ((await promise) !== "SIGKILL") throw new Error(`the fixture ended by itself: ${complaints}`);
  // The last line may have been cut by the kill.
  return output.split("\n").slice(0, -1);
}
