/**
 * The ends of requests by key: a verdict on an edit needs failures that a single client cannot
 * cause.
 */

import { isClientGone, isModelOf, neverConnected, requestDigest } from "@sluice/runtime";
import { calleeOf } from "../callee.ts";
import type { Snapshot } from "../../config/snapshot.ts";
import type { Counted } from "./counted.ts";

/** One request as evidence of a verdict. */
export interface EndedRequest {
  /** The id of the key that asked. */
  readonly key: string;
  readonly isError: boolean;
  /** No request can have chosen it: no connection to the upstream could be opened. */
  readonly isForced: boolean;
  /** A digest of what was asked; empty for a request that did not fail. */
  readonly body: string;
}

/** How the requests of one key ended. */
export interface Ends {
  requests: number;
  errors: number;
  /** A digest of a request that failed. */
  body: string | undefined;
  /** Whether requests with different bodies failed. */
  isVaried: boolean;
}

/** Keys that are counted apart. The others share one place. */
const MAX_KEYS = 256;
const OTHERS = "\0others";
const FORCED = "\0forced";

/** Counts requests by key. */
export class EndedByKey {
  requests = 0;
  errors = 0;
  readonly #byKey = new Map<string, Ends>();

  /** Counts that were made elsewhere, each key once. */
  static of(
    counts: readonly ({ readonly key: string } & Readonly<Pick<Ends, "requests" | "errors">> &
      Readonly<Partial<Ends>>)[],
  ): EndedByKey {
    const made = new EndedByKey();
    for (const { key, requests, errors, body, isVaried = false } of counts) {
      if (requests === 0) continue;
      made.#byKey.set(key, { requests, errors, body, isVaried });
      made.requests += requests;
      made.errors += errors;
    }
    return made;
  }

  /** The counts by key. */
  entries(): Iterable<readonly [string, Readonly<Ends>]> {
    return this.#byKey.entries();
  }

  /** Whether all requests are of one key. */
  get isOneKey(): boolean {
    return this.#byKey.size === 1;
  }

  add({ key, isError, isForced, body }: EndedRequest): void {
    const ends = this.#endsOf(isForced ? FORCED : key);
    this.requests += 1;
    ends.requests += 1;
    if (!isError) return;
    this.errors += 1;
    ends.errors += 1;
    ends.body ??= body;
    if (ends.body !== body) ends.isVaried = true;
  }

  /**
   * Whether more than this share failed, and one key alone did not bring that about: the share is
   * exceeded without the key that has most failures, too, or there is one key and its bodies
   * differ.
   */
  exceeds(share: number): boolean {
    if (this.requests === 0 || this.errors / this.requests <= share) return false;
    const { others, worst, keys } = this.#split();
    if (others.errors > 0 && others.errors / others.requests > share) return true;
    return keys === 1 && worst?.isVaried === true;
  }

  /** The share that failed without the key that has most failures; with one key alone, of all. */
  commonShare(): number {
    const { others, keys } = this.#split();
    const { requests, errors } = keys > 1 ? others : this;
    return requests === 0 ? 0 : errors / requests;
  }

  /** Failures that no request can choose are of no key. */
  #split(): {
    readonly others: Pick<Ends, "requests" | "errors">;
    readonly worst: Ends | undefined;
    readonly keys: number;
  } {
    let worst: Ends | undefined;
    let keys = 0;
    for (const [key, ends] of this.#byKey) {
      if (key === FORCED) continue;
      keys += 1;
      if (worst === undefined || isWorse(ends, worst)) worst = ends;
    }
    const others = {
      requests: this.requests - (worst?.requests ?? 0),
      errors: this.errors - (worst?.errors ?? 0),
    };
    return { others, worst, keys };
  }

  #endsOf(key: string): Ends {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const place = this.#byKey.size < MAX_KEYS || key === FORCED ? key : OTHERS;
    const shared = this.#byKey.get(place);
    if (shared !== undefined) return shared;
    const ends: Ends = { requests: 0, errors: 0, body: undefined, isVaried: false };
    this.#byKey.set(place, ends);
    return ends;
  }
}

/**
 * Whether the requests of one key ended worse: more failures, or as many in fewer requests.
 * A verdict does not depend on the order of the keys.
 */
function isWorse(one: Ends, other: Ends): boolean {
  return one.errors === other.errors ? one.requests < other.requests : one.errors > other.errors;
}

/**
 * Whether a request ended with a status from 500 on; a stream that broke did. A client that left
 * has not failed.
 */
export function hasFailed({ failure, reply, signal }: Counted): boolean {
  if (signal !== undefined && isClientGone({ signal })) return false;
  return (failure?.status ?? reply?.status ?? 0) >= 500;
}

/**
 * A request as evidence about an edit from one snapshot to another. The upstream's own 5xx say
 * nothing of an edit that left their target as it was.
 */
export function evidenceOf(
  counted: Counted,
  change: { readonly from: Snapshot; readonly to: Snapshot } | undefined,
): EndedRequest {
  const key = counted.identity?.keyId ?? "";
  const last = counted.attempts.at(-1);
  const isOwn =
    (last?.upstreamStatus ?? 0) >= 500 && change !== undefined && isSameTarget(counted, change);
  if (!hasFailed(counted) || isOwn) return { key, isError: false, isForced: false, body: "" };
  const isForced = last?.error !== undefined && neverConnected(last.error);
  return { key, isError: true, isForced, body: requestDigest(counted.request) };
}

/** Whether the target of the last attempt is called for its model in both, and in the same way. */
function isSameTarget(
  { attempts }: Counted,
  { from, to }: { readonly from: Snapshot; readonly to: Snapshot },
): boolean {
  const { target, model } = attempts.at(-1) ?? {};
  if (target === undefined || model === undefined) return false;
  const calleeIn = ({ providers }: Snapshot): string | undefined => {
    const provider = providers.find(({ name }) => name === target.provider);
    return provider === undefined ? undefined : calleeOf(provider.use, provider);
  };
  const targetsIn = ({ models }: Snapshot): readonly string[] =>
    (models.find(({ id }) => id === model.entry)?.targets ?? [])
      .filter(
        ({ provider, model: pattern }) =>
          provider === target.provider && isModelOf(pattern, target.model),
      )
      .map(({ model: pattern }) => pattern);
  const before = targetsIn(from);
  return (
    targetsIn(to).some((pattern) => before.includes(pattern)) && calleeIn(from) === calleeIn(to)
  );
}
