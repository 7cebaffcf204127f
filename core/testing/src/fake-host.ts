/** A host for tests: nothing behind it but what the test gives. */

import type { Host, Log, Sealer } from "@sluice/contract";
import { fakeClock } from "./fake-clock.ts";
import { fakeMetrics } from "./fake-metrics.ts";
import { fakeState } from "./fake-state.ts";

/** One line that a plugin logged. */
export interface LogLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** A host that remembers what was logged and what was deferred. */
export interface FakeHost extends Host {
  readonly lines: readonly LogLine[];
  /** Aborts the scope's signal, and runs what was deferred, the newest first. */
  close(): Promise<void>;
}

/** A host with no models, keys, prices, providers or rows; `parts` replaces any of it. */
export function fakeHost(parts: Partial<Host> = {}): FakeHost {
  const lines: LogLine[] = [];
  const closers: (() => void | Promise<void>)[] = [];
  const ended = new AbortController();
  const { clock = fakeClock() } = parts;
  return {
    log: fakeLog(lines),
    metrics: fakeMetrics(),
    clock,
    scope: {
      defer: (close) => void closers.unshift(close),
      signal: ended.signal,
      every(intervalMs, work) {
        const timer = setInterval(() => void work(), intervalMs);
        closers.unshift(() => clearInterval(timer));
      },
    },
    generation: 1,
    shared: (_key, make) => make(),
    models: { find: () => undefined, list: () => [] },
    authority: {
      identify: () => undefined,
      keyIdOf: async () => undefined,
      foreignTag: () => undefined,
      teamModels: async () => undefined,
      mayUse: () => true,
      headerNames: [],
      customerHeaders: [],
      customerOf: () => undefined,
    },
    providers: { find: () => undefined, names: () => [] },
    guardrails: { find: () => undefined, list: () => [] },
    prices: { find: () => undefined },
    directory: { list: () => [], find: () => undefined },
    // A token for each word: enough to distinguish counts.
    tokens: {
      count: (text) => ({
        tokens: [text].flat().join(" ").split(/\s+/).filter(Boolean).length,
        exact: true,
      }),
    },
    ledger: {
      rows: async () => [],
      days: async () => [],
      tags: async () => [],
      report: async () => [],
      spent: async () => 0,
    },
    timeZone: "UTC",
    state: fakeState(clock),
    sealer: fakeSealer,
    ...parts,
    lines,
    async close() {
      ended.abort();
      for (const close of closers.splice(0)) await close();
    },
  };
}

/** Seals by naming purpose and owner: what was sealed for others does not open. */
const fakeSealer: Sealer = {
  seal: (purpose, owner, bytes) =>
    Buffer.concat([Buffer.from(`${JSON.stringify([purpose, owner])}\n`), bytes]),
  open(purpose, owner, sealed) {
    const mark = Buffer.from(`${JSON.stringify([purpose, owner])}\n`);
    const isOwn = mark.equals(sealed.subarray(0, mark.length));
    return isOwn ? sealed.subarray(mark.length) : undefined;
  },
};

/** A log that appends to `lines`. */
export function fakeLog(lines: LogLine[]): Log {
  const write =
    (level: keyof Log) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
      lines.push({ level, message, fields });
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
