/** A process that writes spend rows at a rate, and reports how late they were. */

import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { SpendRow } from "@sluice/contract";
import { openStore } from "./open-store.ts";

/** What the parent gives. */
export interface WritePlan {
  readonly url: string;
  /** Rows a second. */
  readonly rate: number;
  readonly forMs: number;
  readonly keys: number;
}

/** What the process reports at its end. */
export interface Written {
  readonly rows: number;
  /** From the moment at which a row was due to its commit, the longest of each second. */
  readonly lagsMs: readonly number[];
  readonly errors: readonly string[];
  readonly cpuMs: number;
}

/** As the relay of a gateway takes them from the outbox. */
const MOVE_EVERY_MS = 50;
const MAX_BATCH = 1_000;

/** A UUID of version 7. */
function idAt(timeMs: number): string {
  const hex = timeMs.toString(16).padStart(12, "0");
  const tail = randomBytes(9).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(6, 18)}`;
}

function rowAt(timeMs: number, key: number): SpendRow {
  return {
    requestId: idAt(timeMs),
    attempt: 1,
    callType: "chat",
    keyId: `k${key}`,
    keyAlias: `alias ${key}`,
    userId: `u${key % 1_000}`,
    teamId: `t${key % 100}`,
    organizationId: `o${key % 10}`,
    endUser: `c${key % 5_000}`,
    model: `m${key % 3}`,
    targetId: `openai/m${key % 3}`,
    modelGroup: `m${key % 3}`,
    provider: "openai",
    status: "success",
    errorCode: null,
    promptTokens: 120,
    completionTokens: 40,
    totalTokens: 160,
    cachedTokens: 0,
    reasoningTokens: 0,
    usageSource: "provider",
    costNanoUsd: 12_345,
    costStatus: "priced",
    cacheHit: false,
    startedAtMs: timeMs,
    firstContentAtMs: timeMs + 300,
    endedAtMs: timeMs + 900,
    generation: 1,
    tags: [`tag${key % 20}`],
    metadata: {},
    clientAddress: "10.0.0.1",
    upstreamRequestId: null,
    completionId: null,
  } as SpendRow;
}

async function write({ url, rate, forMs, keys }: WritePlan): Promise<Written> {
  const { ledger, stop } = await openStore(url);
  const startMs = Date.now();
  const lags = new Map<number, number>();
  const errors: string[] = [];
  let written = 0;
  const total = Math.round((rate * forMs) / 1_000);
  while (written < total) {
    const due = Math.min(total, Math.floor(((Date.now() - startMs) * rate) / 1_000));
    const count = Math.min(MAX_BATCH, due - written);
    if (count < rate * (MOVE_EVERY_MS / 1_000) && due < total) {
      await pause(MOVE_EVERY_MS / 2);
      continue;
    }
    const dueMs = (index: number): number => startMs + Math.floor((index * 1_000) / rate);
    const rows = Array.from({ length: count }, (_, index) =>
      rowAt(dueMs(written + index), Math.floor(Math.random() * Math.random() * keys)),
    );
    try {
      await ledger.insert(rows);
    } catch (error) {
      errors.push(String(error));
      if (errors.length > 20) break;
      continue;
    }
    const second = Math.floor((Date.now() - startMs) / 1_000);
    lags.set(second, Math.max(lags.get(second) ?? 0, Date.now() - dueMs(written)));
    written += count;
  }
  await stop();
  const { user, system } = process.cpuUsage();
  return { rows: written, lagsMs: [...lags.values()], errors, cpuMs: (user + system) / 1_000 };
}

process.once("message", (plan: WritePlan) => {
  void write(plan).then((written) => {
    process.send?.(written, undefined, undefined, () => process.disconnect());
  });
});
