/**
 * Evidence about a canary from several processes: what the requests of each say, as plain data, and
 * the verdict on all of them together.
 */

import type { CanaryPlan } from "./canary.ts";
import { EndedByKey } from "../ended-by-key.ts";
import { percent } from "./percent.ts";
import { bySlowWaits, countWaits, type Tally } from "../tally.ts";

/** The requests of one key. */
export interface KeyEvidence {
  readonly key: string;
  readonly requests: number;
  readonly errors: number;
  /** A digest of a request that failed; absent without one. */
  readonly body?: string;
  /** Whether requests with different bodies failed. */
  readonly isVaried?: boolean;
  /** Waits for the first content among the newest ones of its process, and those beyond `p99Ms`. */
  readonly waits?: number;
  readonly slow?: number;
}

/** The requests of a canary in one process, or in several. */
export interface Evidence {
  readonly requests: number;
  /** Requests that ended with a status from 500 on. */
  readonly errors: number;
  readonly keys: readonly KeyEvidence[];
}

export const NO_EVIDENCE: Evidence = Object.freeze({ requests: 0, errors: 0, keys: [] });

/** Keys of a fleet that are counted apart: each process counts fewer. */
const MAX_KEYS = 20_000;

/** The evidence that a tally has. */
export function evidenceIn(tally: Tally, { abortIf }: Pick<CanaryPlan, "abortIf">): Evidence {
  const waits = countWaits(tally.waits, abortIf.p99Ms ?? Infinity);
  const ends = new Map(tally.byKey.entries());
  const keys = [...new Set([...ends.keys(), ...waits.keys()])].map((key): KeyEvidence => {
    const { requests = 0, errors = 0, body, isVaried = false } = ends.get(key) ?? {};
    return {
      key,
      requests,
      errors,
      ...(body !== undefined && { body }),
      ...(isVaried && { isVaried }),
      ...waits.get(key),
    };
  });
  return { requests: tally.requests, errors: tally.errors, keys };
}

/** Whether it holds a failure, or a wait that is too long. */
export function isBad({ keys }: Evidence): boolean {
  return keys.some(({ errors, slow = 0 }) => errors > 0 || slow > 0);
}

/** The evidence of several processes as one. */
export function joinEvidence(parts: readonly Evidence[]): Evidence {
  const keys = new Map<string, KeyEvidence>();
  for (const one of parts.flatMap((part) => part.keys)) {
    const known = keys.get(one.key);
    if (known !== undefined) keys.set(one.key, joinKeys(known, one));
    else if (keys.size < MAX_KEYS) keys.set(one.key, one);
  }
  const sum = (count: (part: Evidence) => number): number =>
    parts.reduce((total, part) => total + count(part), 0);
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    keys: [...keys.values()],
  };
}

function joinKeys(left: KeyEvidence, right: KeyEvidence): KeyEvidence {
  const body = left.body ?? right.body;
  const differ = left.body !== undefined && right.body !== undefined && left.body !== right.body;
  const isVaried = left.isVaried === true || right.isVaried === true || differ;
  return {
    key: left.key,
    requests: left.requests + right.requests,
    errors: left.errors + right.errors,
    ...(body !== undefined && { body }),
    ...(isVaried && { isVaried }),
    waits: (left.waits ?? 0) + (right.waits ?? 0),
    slow: (left.slow ?? 0) + (right.slow ?? 0),
  };
}

/**
 * What is wrong with a canary, as a sentence; `undefined` while nothing is, or too little is known.
 */
export function faultIn(
  evidence: Evidence,
  { abortIf, minRequests }: Pick<CanaryPlan, "abortIf" | "minRequests">,
): string | undefined {
  const { errorRate, p99Ms } = abortIf;
  if (evidence.requests < minRequests) return undefined;
  const byKey = EndedByKey.of(evidence.keys);
  if (errorRate !== undefined && byKey.exceeds(errorRate))
    return `${byKey.errors} of its ${evidence.requests} requests failed, more than ${percent(errorRate)}`;
  if (p99Ms === undefined || !waitsExceed(evidence.keys, byKey.isOneKey)) return undefined;
  return `one in a hundred of its requests waited more than ${p99Ms} ms for content`;
}

/**
 * Whether more than one in a hundred waits is too long, and so it is without the key that has most
 * of them, where there are several.
 */
function waitsExceed(keys: readonly KeyEvidence[], isOneKey: boolean): boolean {
  const sum = (of: readonly KeyEvidence[], name: "waits" | "slow"): number =>
    of.reduce((total, key) => total + (key[name] ?? 0), 0);
  const isSlow = (of: readonly KeyEvidence[]): boolean => {
    const waits = sum(of, "waits");
    return sum(of, "slow") > waits - Math.ceil(waits * 0.99);
  };
  if (!isSlow(keys)) return false;
  if (isOneKey) return true;
  const [, ...others] = keys.toSorted(bySlowWaits);
  return isSlow(others);
}

/** Evidence that another process wrote; `undefined` for what is none. */
export function readEvidence(value: unknown): Evidence | undefined {
  const { requests, errors, keys } = (value ?? {}) as Partial<Evidence>;
  const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && Number(count) >= 0;
  const isWhole =
    isCount(requests) &&
    isCount(errors) &&
    Array.isArray(keys) &&
    keys.every(
      (one: Partial<KeyEvidence> | null) =>
        typeof one?.key === "string" && isCount(one.requests) && isCount(one.errors),
    );
  return isWhole ? (value as Evidence) : undefined;
}
