/** The driver: each decision is one script, each reply is read into the words of the contract. */

import type {
  Begun,
  Claim,
  ClaimState,
  Reservation,
  StateDriver,
  TakeResult,
} from "@sluice/contract";
import type { Connection } from "./connection.ts";
import * as scripts from "./scripts.ts";

/** What a driver is made with. */
export interface DriverOptions {
  readonly connection: Connection;
  /** What all keys begin with. */
  readonly prefix: string;
  readonly maxEntryBytes: number;
}

/** Keys of one round of a purge. */
const SCAN_COUNT = "500";

/** Runs a script with the prefix of all keys. */
type Run = (script: scripts.Script, ...parts: readonly (string | Buffer)[]) => Promise<unknown>;

/** Shared state in Redis. */
export function createRedisState(options: DriverOptions): StateDriver {
  const { connection, prefix } = options;
  const run: Run = (script, ...parts) => connection.run(script, prefix, ...parts);

  return {
    start: (signal) => connection.open(signal),
    stop: () => connection.close(),
    async take({ id, claims }, leaseMs) {
      return takeResult(
        claims,
        await run(scripts.take, id, String(leaseMs), ...claims.flatMap(claimParts)),
      );
    },
    async settle({ id, claims }) {
      await run(scripts.settle, id, "0", ...claims.flatMap(claimParts));
    },
    async renew(reservations: readonly Reservation[], leaseMs) {
      // One round trip: the commands leave together, each is a decision of its own.
      await Promise.all(
        reservations.map(({ id, claims }) =>
          run(scripts.renew, id, String(leaseMs), ...claims.flatMap(claimParts)),
        ),
      );
    },
    async seed(key, spentNanoUsd) {
      await run(scripts.seed, key, String(spentNanoUsd));
    },
    async read(keys) {
      const numbers = ((await run(scripts.read, ...keys)) as readonly (Buffer | number)[]).map(
        Number,
      );
      const known = (at: number): number | undefined =>
        numbers[at]! < 0 ? undefined : numbers[at];
      return keys.map((key, index) => ({
        key,
        windowUsed: known(index * 4),
        inFlight: known(index * 4 + 1),
        spentNanoUsd: known(index * 4 + 2),
        reservedNanoUsd: known(index * 4 + 3),
      }));
    },
    async reset(key) {
      await run(scripts.reset, key);
    },
    cache: createCache(options, run),
    records: createClaimRecords(options, run),
  };
}

/** Cached replies: plain keys with a time to live. */
function createCache(
  { connection, prefix, maxEntryBytes }: DriverOptions,
  run: Run,
): StateDriver["cache"] {
  const cacheKey = (key: string): string => `${prefix}x:${key}`;
  return {
    async get(key) {
      return ((await connection.command("GET", cacheKey(key))) as Buffer | null) ?? undefined;
    },
    async set(key, bytes, ttlMs, _holder, bounds) {
      if (bytes.length > maxEntryBytes) {
        await run(scripts.drop, key);
        return false;
      }
      if (bounds !== undefined && bounds.length > 0) {
        const parts = bounds.flatMap(({ name, maxBytes }) => [name, String(maxBytes)]);
        const kept = await run(scripts.keepBounded, key, bufferOf(bytes), wholeMs(ttlMs), ...parts);
        return kept === 1;
      }
      await connection.command("SET", cacheKey(key), bufferOf(bytes), "PX", wholeMs(ttlMs));
      return true;
    },
    async delete(key) {
      await run(scripts.drop, key);
    },
    async purge(wanted) {
      let cursor = "0";
      let count = 0;
      do {
        const pattern = `${escapeGlob(cacheKey(wanted))}*`;
        const page = (await connection.command(
          "SCAN",
          cursor,
          "MATCH",
          pattern,
          "COUNT",
          SCAN_COUNT,
        )) as [Buffer, Buffer[]];
        cursor = page[0].toString();
        const keys = page[1].map((found) => found.toString().slice(cacheKey("").length));
        if (keys.length > 0) count += Number(await run(scripts.drop, ...keys));
      } while (cursor !== "0");
      return count;
    },
  };
}

/** Records of idempotent requests. Each change is one script. */
function createClaimRecords({ maxEntryBytes }: DriverOptions, run: Run): StateDriver["records"] {
  return {
    async begin(key, bodyDigest, owner, leaseMs) {
      const [outcome, bytes] = (await run(
        scripts.begin,
        key,
        bodyDigest,
        owner,
        wholeMs(leaseMs),
      )) as Buffer[];
      const word = String(outcome) as Begun["outcome"];
      return word === "done" ? { outcome: word, bytes: bytes! } : { outcome: word };
    },
    async complete(key, owner, bytes, ttlMs) {
      if (bytes.length > maxEntryBytes) {
        await run(scripts.abandon, key, owner);
        return false;
      }
      return (await run(scripts.complete, key, owner, bufferOf(bytes), wholeMs(ttlMs))) === 1;
    },
    async abandon(key, owner) {
      await run(scripts.abandon, key, owner);
    },
  };
}

/** Redis takes whole milliseconds, one at least; a time that is left is no whole number. */
function wholeMs(ms: number): string {
  return String(Math.max(1, Math.round(ms)));
}

function claimParts(claim: Claim): string[] {
  switch (claim.kind) {
    case "window":
      return [
        "window",
        claim.key,
        String(claim.limit),
        String(claim.amount),
        String(claim.windowMs),
      ];
    case "concurrent":
      return ["concurrent", claim.key, String(claim.limit), "1", "0"];
    case "budget":
      return ["budget", claim.key, String(claim.limitNanoUsd), String(claim.amountNanoUsd), "0"];
  }
}

function takeResult(claims: readonly Claim[], reply: unknown): TakeResult {
  const [word, ...rest] = reply as readonly (Buffer | number)[];
  const outcome = String(word);
  if (outcome === "unseeded") return { outcome, keys: rest.map(String) };
  if (outcome === "settled")
    throw new Error("The reservation is settled already: its id cannot be taken again.");
  const [failedIndex, neverFits, retryAfterMs, ...pairs] = rest.map(Number);
  const states = claims.map((claim, at): ClaimState => {
    const resetMs = pairs[at * 2 + 1]!;
    const limit = claim.kind === "budget" ? claim.limitNanoUsd : claim.limit;
    return { limit, remaining: pairs[at * 2]!, resetMs: resetMs < 0 ? undefined : resetMs };
  });
  if (outcome === "granted") return { outcome, states };
  const wait = retryAfterMs! < 0 ? undefined : retryAfterMs;
  return {
    outcome: "refused",
    failedIndex: failedIndex!,
    neverFits: neverFits === 1,
    retryAfterMs: wait,
    states,
  };
}

function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, String.raw`\$&`);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
