/**
 * Token counting: how long a megabyte takes in the pool, how long the event loop of the serving
 * process is blocked meanwhile, and what a frame of a stream costs whose text is kept for the case
 * that no usage comes. `node test/bench/counting.ts`
 */

import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { createCounter } from "../../core/engine/src/counting/counter.ts";
import { systemClock } from "../../core/engine/src/telemetry/clock.ts";
import { ObservedText } from "@sluice/runtime/openai";
import { rawFrame } from "@sluice/kit/internals";

const MEGABYTE = 1_000_000;
const GOAL_MS = 250;
const GOAL_BLOCKED_MS = 20;
const RUNS = 5;
const FRAMES = 200;
const STREAMS = 2_000;

const silent = {
  debug() {},
  info() {},
  warn: (message: string, fields?: unknown) => console.log(message, fields),
  error() {},
};
const CJK = [
  ..."的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事",
];
const random = (of: readonly string[]): string => of[Math.floor(Math.random() * of.length)] ?? "";
const characters = (of: readonly string[], bytes: number): string =>
  Array.from({ length: Math.floor(bytes / Buffer.byteLength(of[0] ?? "a")) }, () =>
    random(of),
  ).join("");

const TEXTS: Readonly<Record<string, string>> = {
  "1 MB of CJK": characters(CJK, MEGABYTE),
  "1 MB of any CJK": characters(
    Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)),
    MEGABYTE,
  ),
  "1 MB of one letter": "a".repeat(MEGABYTE),
  "1 MB of white space": " ".repeat(MEGABYTE),
  "1 MB of mixed white space": characters([" ", "\n", "\t", "\r"], MEGABYTE),
  "1 MB of letters": characters([..."abcdefghijklmnopqrstuvwxyz"], MEGABYTE),
  "1 MB of English":
    "The gateway counts missing usage, and marks the number as an estimate.  ".repeat(
      MEGABYTE / 60,
    ),
  "1 MB of emoji": characters(["😀", "🚀", "👋", "🎉", "🔥", "🧠"], MEGABYTE),
};

const counter = createCounter({ log: silent, clock: systemClock });
const delay = monitorEventLoopDelay({ resolution: 1 });

/** Runs something and tells how long it took and for how long, at most, the loop stood still. */
async function measure<T>(
  run: () => T | Promise<T>,
): Promise<{ result: T; tookMs: number; blockedMs: number }> {
  await pause(20);
  delay.reset();
  delay.enable();
  const startedMs = performance.now();
  const result = await run();
  const tookMs = performance.now() - startedMs;
  await pause(5);
  delay.disable();
  return { result, tookMs, blockedMs: Math.max(0, delay.max / 1e6 - 1) };
}

const verdict = (isGood: boolean): string => (isGood ? "" : "  MISSED");
const shown = (ms: number): string => ms.toFixed(1).padStart(7);

const first = await measure(() => counter.count("Hello"));
console.log(
  `first count, with the start of the pool ${shown(first.tookMs)} ms, loop blocked ${shown(first.blockedMs)} ms`,
);
const warm = await measure(() => pause(500));
console.log(
  `tables for short texts, in slices                    loop blocked ${shown(warm.blockedMs)} ms`,
);

for (const [name, text] of Object.entries(TEXTS)) {
  let tookMs = 0;
  let blockedMs = 0;
  let tokens = 0;
  let isExact = true;
  for (let run = 0; run < RUNS; run++) {
    const measured = await measure(() => counter.count(text));
    tookMs = Math.max(tookMs, measured.tookMs);
    blockedMs = Math.max(blockedMs, measured.blockedMs);
    tokens = measured.result.tokens;
    isExact &&= measured.result.exact;
  }
  const isGood = tookMs < GOAL_MS && blockedMs < GOAL_BLOCKED_MS && isExact;
  console.log(
    `${name.padEnd(26)} ${String(tokens).padStart(7)} tokens, worst of ${RUNS}: ${shown(tookMs)} ms, loop blocked ${shown(blockedMs)} ms${verdict(isGood)}`,
  );
}

for (const [name, text] of Object.entries(TEXTS)) {
  const inline = Array.from({ length: 20 }, (_, index) => {
    const bytes = Buffer.byteLength(text.slice(0, 1_000)) / 1_000;
    const short = text.slice(index * 1_000, index * 1_000 + Math.floor(4_000 / bytes));
    const startedMs = performance.now();
    const count = counter.count(short);
    return count instanceof Promise ? Infinity : performance.now() - startedMs;
  });
  console.log(
    `inline, 4,000 bytes of ${name.slice(8).padEnd(18)} first ${shown(inline[0] ?? 0)} ms, worst ${shown(Math.max(...inline))} ms`,
  );
}

const frames = Array.from({ length: FRAMES }, (_, index) =>
  rawFrame(
    JSON.stringify({
      id: "chatcmpl-9f2c1e7ab0d34c5e8f61",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "gpt-4o-mini-2024-07-18",
      system_fingerprint: "fp_44709d6fcb",
      choices: [
        { index: 0, delta: { content: ` word${index}` }, logprobs: null, finish_reason: null },
      ],
    }),
  ),
);
for (let round = 0; round < 3; round++) {
  const startedMs = performance.now();
  for (let stream = 0; stream < STREAMS; stream++) {
    const observed = new ObservedText();
    for (const frame of frames) observed.add(frame);
  }
  const nanoseconds = ((performance.now() - startedMs) * 1e6) / (STREAMS * FRAMES);
  console.log(
    `text of a stream: ${nanoseconds.toFixed(0)} ns a frame of ${frames[0]?.raw?.length} characters`,
  );
}
await counter.close();
