import fc from "fast-check";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { amount } from "@sluice/testing";
import { createLedger } from "./ledger.ts";
import { openOutbox } from "../outbox/outbox.ts";
import { makeRow } from "../testing/make-row.ts";
import { createMemoryStore } from "../testing/memory-store.ts";
import { createRecordingLog, systemClock } from "../testing/recording-log.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

type Action =
  | { readonly kind: "record"; readonly rows: number; readonly isAwaited: boolean }
  | { readonly kind: "fail"; readonly times: number; readonly afterwards: boolean }
  | { readonly kind: "pass"; readonly milliseconds: number }
  | { readonly kind: "turn" | "restart" | "read" };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    kind: fc.constant("record" as const),
    rows: fc.integer({ min: 1, max: 4 }),
    isAwaited: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("record" as const),
    rows: fc.integer({ min: 190, max: 420 }),
    isAwaited: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("fail" as const),
    times: fc.integer({ min: 1, max: 3 }),
    afterwards: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("pass" as const), milliseconds: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ kind: fc.constantFrom("turn" as const, "restart" as const, "read" as const) }),
);

test("whatever the order of records, failures and restarts, the store ends with every row once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 40 }),
      fc.integer({ min: 1, max: 300 }),
      async (actions, maxRowsInMemory) => {
        const directory = mkdtempSync(join(tmpdir(), "sluice-model-"));
        const store = createMemoryStore();
        const log = createRecordingLog();
        const open = () => {
          const outbox = openOutbox({ directory, maxRowsInMemory });
          return { outbox, ledger: createLedger({ outbox, store, log, clock: systemClock }) };
        };
        let { outbox, ledger } = open();
        const model: string[] = [];
        const acknowledgements: Promise<void>[] = [];

        for (const step of actions) {
          if (step.kind === "record") {
            const ids = Array.from({ length: step.rows }, (_, index) => `r${model.length + index}`);
            model.push(...ids.map((id) => `${id}:1`));
            const acknowledged = ledger.record(ids.map((id) => makeRow(id)));
            acknowledgements.push(acknowledged);
            if (step.isAwaited) await acknowledged;
          } else if (step.kind === "fail") store.failNext(step.times, step.afterwards);
          else if (step.kind === "pass") await vi.advanceTimersByTimeAsync(step.milliseconds);
          else if (step.kind === "turn") await new Promise(setImmediate);
          else if (step.kind === "read") {
            const isFailing = ledger.health().isStoreFailing;
            store.failNext(0);
            if (isFailing) continue;
            await ledger.rows({ limit: 1 });
            assert.deepEqual(
              [...store.kept.keys()],
              model,
              "a reader sees what was recorded before",
            );
          } else {
            await ledger.stop();
            outbox.close();
            ({ outbox, ledger } = open());
          }
        }

        await Promise.all(acknowledgements);
        store.failNext(0);
        const flushed = ledger.flush();
        await vi.advanceTimersByTimeAsync(5_000);
        await flushed;
        expect([...store.kept.keys()]).toEqual(model);
        expect(outbox.pendingBatches).toBe(0);
        await ledger.stop();
        outbox.close();
        rmSync(directory, { recursive: true });
      },
    ),
    { numRuns: amount(25, 100) },
  );
}, 60_000);
