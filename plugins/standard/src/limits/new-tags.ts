/**
 * New tags: a key may name only so many tags a second whose budgets are not known yet, as each is a
 * question to the ledger.
 */

import { GatewayError, type Identity } from "@sluice/contract";
import type { Rule } from "./rules/rule.ts";

const PER_SECOND = 8;
/** As many as one request may name. */
const MAX_AT_ONCE = 128;

/** Maximum stored keys. A key that was dropped starts anew. */
const MAX_KEYS = 10_000;

/** Counts the new tags of each key. */
export class NewTags {
  readonly #left = new Map<string, { readonly count: number; readonly atMs: number }>();

  /**
   * Counts those of the unknown budgets that are of tags of the request alone. Throws
   * `rate_limited` when they are too many.
   */
  check(
    identity: Identity | undefined,
    unknown: readonly string[],
    rules: readonly Rule[],
    nowMs: number,
  ): void {
    if (identity === undefined || identity.kind === "master") return;
    const isNew = (rule: Rule): boolean =>
      rule.kind === "budget" &&
      rule.rows.tag !== undefined &&
      !identity.tags.includes(rule.rows.tag) &&
      unknown.includes(rule.key);
    const count = rules.filter(isNew).length;
    if (count === 0) return;
    const before = this.#left.get(identity.keyId);
    const earned =
      before === undefined ? MAX_AT_ONCE : ((nowMs - before.atMs) / 1_000) * PER_SECOND;
    const left = Math.min(MAX_AT_ONCE, (before?.count ?? 0) + earned);
    if (left < count) {
      const message = `This key names new tags faster than their budgets can be read: ${count} in this request, ${PER_SECOND} a second are allowed. Name fewer different tags.`;
      throw new GatewayError("rate_limited", message, {
        retryAfterMs: Math.ceil(((count - left) / PER_SECOND) * 1_000),
      });
    }
    if (before === undefined && this.#left.size >= MAX_KEYS) this.#left.clear();
    this.#left.set(identity.keyId, { count: left - count, atMs: nowMs });
  }
}
