/** Random spend rows: few ids, so that they repeat, and times around the borders of days. */

import type { SpendRow } from "@sluice/contract";
import fc from "fast-check";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
/** Sums of a few of these leave what a double holds exactly. */
const count = fc.option(
  fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(Number.MAX_SAFE_INTEGER)),
);
/** Any row, a repeated one of a call too. */
export const spendRow: fc.Arbitrary<SpendRow> = fc.record({
  requestId: oneOf("a", "b", "c", "d", "e", "f"),
  attempt: fc.integer({ min: 0, max: 3 }),
  callType: fc.constant("chat"),
  keyId: oneOf("k1", "k2", "__proto__"),
  keyAlias: fc.constant("alias"),
  userId: fc.option(oneOf("u1", "u2")),
  teamId: fc.option(oneOf("t1", "T1")),
  organizationId: fc.option(oneOf("o1", "o2")),
  endUser: fc.option(oneOf("c1", "c 2", "\u{1f600}", "\uff5e")),
  model: oneOf("m1", "m2", "", "'; drop table ledger"),
  targetId: fc.option(oneOf("p1/m1", "p1/x/y", "p2")),
  modelGroup: fc.option(oneOf("m*", "m1")),
  provider: fc.option(oneOf("openai")),
  status: oneOf<SpendRow["status"]>("success", "failure", "partial"),
  errorCode: fc.constant(null),
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  cachedTokens: count,
  reasoningTokens: count,
  usageSource: oneOf<SpendRow["usageSource"]>("provider", "estimated", null),
  costNanoUsd: count,
  costStatus: oneOf<SpendRow["costStatus"]>("priced", "unpriced", "free"),
  cacheHit: fc.boolean(),
  // Around the borders of hours, days and weeks, before 1970 too, and several in one hour.
  startedAtMs: fc
    .tuple(oneOf(-1, 0, 0, 0, 2, 6), oneOf(0, 0, 1, 23), oneOf(-1, 0, 0, 1))
    .map(([day, hour, ms]) => day * DAY_MS + hour * HOUR_MS + ms),
  firstContentAtMs: fc.constant(null),
  endedAtMs: fc.constant(0),
  generation: fc.constant(1),
  tags: fc.array(oneOf("x", "y:1", "ü"), { maxLength: 3 }),
  metadata: fc.constant({}),
  clientAddress: fc.constant(null),
  upstreamRequestId: fc.constant(null),
  completionId: fc.constant(null),
  requests: oneOf(undefined, undefined, 40),
  judged: fc.option(
    fc.array(
      fc.record({
        route: oneOf("POST /v1/chat/completions", "POST /ü"),
        guardrail: oneOf("", "pii", "'; drop table ledger"),
        direction: oneOf("input", "output"),
        verdict: oneOf("block", "edit"),
        mode: oneOf("enforce", "shadow"),
        requests: fc.integer({ min: 1, max: 40 }),
      }),
      { maxLength: 3 },
    ),
    { nil: undefined },
  ),
});
