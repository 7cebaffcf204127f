/**
 * The token counter of the process: short texts at once, long ones in the pool, what cannot be
 * counted as an estimate.
 */

import { setImmediate } from "node:timers/promises";
import type { TokenCount, TokenCounter } from "@sluice/contract";
import { createTextCounter, type TextCounter } from "./o200k.ts";
import { CountingPool, type PoolOptions } from "./pool.ts";
import { unpackVocabulary } from "./vocabulary.ts";

/**
 * Bytes up to which texts are counted where they are: under a millisecond. Above, the way to a
 * worker costs less.
 */
const INLINE_BYTES = 4_096;
/**
 * Texts of one and of two bytes a character: the engine compiles the splitting pattern for each
 * kind, 2 and 7 ms.
 */
const SAMPLES = ["Hello, world", "你好，世界"];
/** UTF-8 bytes of a token, as a rule. */
const BYTES_PER_TOKEN = 4;

/** A counter with a life. */
export interface ProcessCounter extends TokenCounter {
  close(): Promise<void>;
}

/** What a counter is made from. */
export interface CounterOptions extends PoolOptions {
  /** Resolves where a piece of work may be done on this thread. Absent: in each turn. */
  readonly turn?: () => Promise<void>;
}

/**
 * A counter of `o200k_base`. Nothing is loaded before the first count. The first one starts the
 * pool; this thread gets the tables from there, a slice at a time, and counts short texts itself
 * from then on. So no turn of the loop waits for them.
 */
export function createCounter({ turn = setImmediate, ...options }: CounterOptions): ProcessCounter {
  const pool = new CountingPool(options);
  let inline: TextCounter | undefined;
  let isLoading = false;

  const load = async (): Promise<void> => {
    isLoading = true;
    try {
      const packed = await pool.vocabulary();
      if (packed === undefined) return;
      const work = unpackVocabulary(packed);
      for (;;) {
        const step = work.next();
        if (step.done === true) {
          const ready = createTextCounter(step.value);
          for (const sample of SAMPLES) {
            await turn();
            ready(sample);
          }
          inline = ready;
          return;
        }
        await turn();
      }
    } finally {
      isLoading = false;
    }
  };

  return {
    count(text, { maxWaitMs } = {}) {
      const texts = typeof text === "string" ? [text] : text;
      const characters = texts.reduce((total, { length }) => total + length, 0);
      if (characters === 0) return { tokens: 0, exact: true };
      if (characters <= INLINE_BYTES && bytesOf(texts) <= INLINE_BYTES) {
        if (inline !== undefined) return { tokens: countAll(inline, texts), exact: true };
        if (!isLoading) void load();
      }
      return pool
        .count(texts, maxWaitMs)
        .then((tokens) => (tokens === undefined ? estimateTokens(texts) : { tokens, exact: true }));
    },
    close: () => pool.close(),
  };
}

/** The estimate of texts: a fourth of their bytes, rounded up. */
export function estimateTokens(texts: readonly string[]): TokenCount {
  return { tokens: Math.ceil(bytesOf(texts) / BYTES_PER_TOKEN), exact: false };
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((total, text) => total + Buffer.byteLength(text), 0);
}

function countAll(count: TextCounter, texts: readonly string[]): number {
  let tokens = 0;
  for (const text of texts) tokens += count(text);
  return tokens;
}
