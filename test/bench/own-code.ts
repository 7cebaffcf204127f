/**
 * Own code beside the library that could replace it: CPU time, memory of the loaded library, and
 * whether the answers agree. `node test/bench/own-code.ts`. Figures stand in
 * core/decisions/2026-11-22-small-own-code.md. The libraries that the gateway does not depend on
 * are compared when they are installed: `npm install --no-save fastest-levenshtein croner`.
 */

import tokens from "gpt-tokenizer/bpeRanks/o200k_base";
import { createTextCounter } from "../../core/engine/src/counting/o200k.ts";
import {
  packVocabulary,
  type RawTokens,
  unpackAtOnce,
} from "../../core/engine/src/counting/vocabulary.ts";
import { matchesCron, parseCron } from "../../core/engine/src/config/cron.ts";
import { BoundedMap } from "../../core/engine/src/config/bounded-map.ts";
import { distance, nearest } from "../../core/engine/src/config/validate/distance.ts";
import { windowEnd } from "../../core/engine/src/counting/windows.ts";

const ROUNDS = 5;

/**
 * The median CPU time of some rounds, in milliseconds. Both sides take turns, so that a busy
 * machine slows both.
 */
function compare(name: string, sides: Readonly<Record<string, () => unknown>>): void {
  const times = new Map(Object.keys(sides).map((side) => [side, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [side, run] of Object.entries(sides)) {
      const before = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(before);
      times.get(side)?.push((user + system) / 1_000);
    }
  }
  const shown = [...times].map(
    ([side, all]) => `${side} ${all.toSorted((a, b) => a - b)[ROUNDS >> 1]?.toFixed(1)} ms`,
  );
  console.log(`${name.padEnd(28)} ${shown.join("  ")}`);
}

function heapOf(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_048_576;
}

async function tokenMerge(): Promise<void> {
  const before = heapOf();
  const own = createTextCounter(unpackAtOnce(packVocabulary(tokens as RawTokens)));
  const between = heapOf();
  const { countTokens, setMergeCacheSize } = await import("gpt-tokenizer/encoding/o200k_base");
  const options = { disallowedSpecial: new Set<string>() };
  countTokens("Hello", options);
  console.log(
    `tables: own ${(between - before).toFixed(0)} MB, library ${(heapOf() - between).toFixed(0)} MB more`,
  );
  const inWindows = (text: string): number => {
    let sum = 0;
    for (let start = 0; start < text.length;) {
      const end = windowEnd(text, start, 512);
      sum += countTokens(text.slice(start, end), options);
      start = end;
    }
    return sum;
  };
  let seed = 1;
  const next = (bound: number): number => (seed = (seed * 48_271) % 2_147_483_647) % bound;
  const random = (of: (index: number) => string, count: number): string =>
    Array.from({ length: count }, () => of(next(1e6))).join("");
  const english = random(
    (index) =>
      ` ${["the", "gateway", "counts", "model", "tokens", "reply", `w${index % 997}`][index % 7]}`,
    60_000,
  );
  const texts = {
    "words, 0.3 MB": english,
    "any CJK, 0.3 MB": random((index) => String.fromCodePoint(0x4e00 + (index % 20_000)), 100_000),
    "letters without breaks, 0.3 MB": random(
      (index) => String.fromCodePoint(0x61 + (index % 26)),
      300_000,
    ),
    "white space, 0.3 MB": random((index) => " \n\t"[index % 3] ?? " ", 300_000),
    "one letter, 0.3 MB": "a".repeat(300_000),
  };
  for (const cache of [100_000, 0]) {
    setMergeCacheSize(cache);
    for (const [name, text] of Object.entries(texts)) {
      const difference = ((inWindows(text) - own(text)) / own(text)) * 100;
      compare(`${name} (cache ${cache})`, { own: () => own(text), library: () => inWindows(text) });
      console.log(`    the library's count in windows differs by ${difference.toFixed(3)} %`);
    }
  }
}

async function editDistance(): Promise<void> {
  const { distance: other } = (await import("fastest-levenshtein" as string)) as {
    distance: typeof distance;
  };
  const words =
    "host port base_url api_key timeouts connections use preset region models targets fallback retries".split(
      " ",
    );
  const slips = ["hots", "prot", "base_ulr", "api_kye", "timeuots", "regoin", "modles", "tragets"];
  const nearestBy = (far: typeof distance, word: string): string | undefined => {
    const ranked = words
      .map((known) => [far(word, known), known] as const)
      .toSorted(([a], [b]) => a - b);
    return ranked[0] !== undefined && ranked[0][0] <= Math.max(1, Math.floor(word.length / 3))
      ? ranked[0][1]
      : undefined;
  };
  const missed = slips.filter((slip) => nearestBy(other, slip) !== nearest(slip, words));
  console.log(
    `edit distance: the library finds no key for ${missed.join(", ") || "none"}, of ${slips.join(", ")}`,
  );
  const all = (far: typeof distance) => () => {
    for (let round = 0; round < 2_000; round++)
      for (const slip of slips) for (const word of words) far(slip, word);
  };
  compare("208,000 edit distances", { own: all(distance), library: all(other) });
}

async function cron(): Promise<void> {
  interface CronClass {
    new (pattern: string, options: object): { match(date: Date): boolean };
  }
  const { Cron } = (await import("croner" as string)) as { Cron: CronClass };
  const pattern = "*/15 9-17 1-15 * mon-fri";
  const startMs = Date.UTC(2026, 0, 1);
  const dates = Array.from({ length: 50_000 }, (_, minute) => new Date(startMs + minute * 60_000));
  const own = parseCron(pattern);
  const other = new Cron(pattern, { timezone: "UTC", paused: true });
  console.log(
    `cron: ${dates.filter((date) => matchesCron(own, date) !== other.match(date)).length} of 50,000 minutes differ for ${pattern}`,
  );
  const accepted = [
    "0 0 L * *",
    "0 0 * * 5#2",
    "0 0 15W * *",
    "@daily",
    "* * * * * *",
    "0 0 ? * *",
  ].filter((text) => {
    try {
      return Boolean(new Cron(text, { paused: true }));
    } catch {
      return false;
    }
  });
  console.log(`cron: the library accepts ${accepted.join(" | ")}, which the schema refuses`);
  compare("50,000 minutes", {
    own: () => dates.forEach((date) => matchesCron(own, date)),
    library: () => dates.forEach((date) => other.match(date)),
  });
}

async function boundedMap(): Promise<void> {
  const { LRUCache } = await import("lru-cache");
  const keys = Array.from({ length: 20_000 }, (_, index) => `model-${index}`);
  const use =
    (map: { get(key: string): unknown; set(key: string, value: number): unknown }) => () => {
      for (let round = 0; round < 10; round++)
        for (const [index, key] of keys.entries())
          if (map.get(key) === undefined) map.set(key, index);
    };
  compare("200,000 gets, misses set", {
    own: use(new BoundedMap<number>(10_000)),
    library: use(new LRUCache<string, number>({ max: 10_000 })),
  });
  const few = keys.slice(0, 1_000);
  const hit = (map: { get(key: string): unknown; set(key: string, value: number): unknown }) => {
    for (const key of few) map.set(key, 1);
    return () => {
      for (let round = 0; round < 1_000; round++) for (const key of few) map.get(key);
    };
  };
  compare("1,000,000 gets that hit", {
    own: hit(new BoundedMap<number>(10_000)),
    library: hit(new LRUCache<string, number>({ max: 10_000 })),
  });
}

await tokenMerge();
for (const one of [editDistance, cron, boundedMap]) {
  await one().catch((error: unknown) => console.log(`${one.name}: not compared: ${String(error)}`));
}
