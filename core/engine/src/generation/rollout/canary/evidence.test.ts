import { type Attempt, GatewayError } from "@sluice/contract";
import { fakeAttempt, fakeIdentity } from "@sluice/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Counted } from "../counted.ts";
import {
  type Evidence,
  evidenceIn,
  faultIn,
  isBad,
  joinEvidence,
  readEvidence,
} from "./evidence.ts";
import { Tally } from "../tally.ts";

const START_MS = Date.UTC(2026, 0, 1);
const LIMIT_MS = 2_000;

interface Ended {
  readonly key: string;
  readonly isError: boolean;
  readonly isSlow: boolean;
}

function counted({ key, isError, isSlow }: Ended): Counted {
  const firstContentAtMs = START_MS + (isSlow ? LIMIT_MS + 1 : 10);
  const attempts: readonly Attempt[] = [fakeAttempt({ firstContentAtMs })];
  return {
    startedAtMs: START_MS,
    failure: isError ? new GatewayError("upstream_unreachable", "No.") : undefined,
    reply: undefined,
    attempts,
    identity: fakeIdentity({ keyId: key }),
  };
}

function tallyOf(ended: readonly Ended[]): Tally {
  const tally = new Tally();
  for (const one of ended) tally.add(counted(one));
  return tally;
}

const plan = (errorRate: number | undefined, p99Ms: number | undefined) => ({
  abortIf: { errorRate, p99Ms },
  minRequests: 5,
});

const ended: fc.Arbitrary<Ended> = fc.record({
  key: fc.constantFrom("a", "b", "c"),
  isError: fc.boolean(),
  isSlow: fc.boolean(),
});

describe("evidence of several processes", () => {
  it("has one verdict, however the requests were spread over them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(ended, fc.nat({ max: 3 })), { maxLength: 60 }),
        fc.constantFrom(0, 0.05, 0.5),
        fc.constantFrom(undefined, LIMIT_MS),
        (requests, errorRate, p99Ms) => {
          const judged = plan(errorRate, p99Ms);
          const all = tallyOf(requests.map(([one]) => one));
          const parts = [0, 1, 2, 3].map((place) =>
            evidenceIn(
              tallyOf(requests.filter(([, at]) => at === place).map(([one]) => one)),
              judged,
            ),
          );
          const joined = joinEvidence(
            parts.map((one) => JSON.parse(JSON.stringify(one)) as Evidence),
          );
          const isFaulty =
            all.requests >= judged.minRequests &&
            (all.byKey.exceeds(errorRate) || (p99Ms !== undefined && all.waitsExceed(p99Ms)));
          expect(faultIn(joined, judged) !== undefined).toBe(isFaulty);
          expect(faultIn(evidenceIn(all, judged), judged) !== undefined).toBe(isFaulty);
          expect([joined.requests, joined.errors]).toEqual([all.requests, all.errors]);
          expect(joined.keys.length <= 3).toBe(true);
        },
      ),
    );
  });

  it("does not depend on the order of keys that failed, or waited, as often as another", () => {
    const several = (key: string, isBadOne: boolean, count: number): readonly Ended[] =>
      Array.from({ length: count }, () => ({ key, isError: isBadOne, isSlow: isBadOne }));
    const few = several("few", true, 2);
    const many = [...several("many", true, 2), ...several("many", false, 40)];
    for (const judged of [plan(0.05, undefined), plan(undefined, LIMIT_MS)])
      for (const order of [
        [few, many],
        [many, few],
      ]) {
        const all = tallyOf(order.flat());
        expect(all.byKey.exceeds(0.05)).toBe(false);
        expect(all.waitsExceed(LIMIT_MS)).toBe(true);
        const joined = joinEvidence(order.map((one) => evidenceIn(tallyOf(one), judged)));
        expect(faultIn(joined, judged) !== undefined).toBe(judged.abortIf.p99Ms !== undefined);
      }
  });

  it("is no verdict where one key alone failed, at several instances too", () => {
    const of = (key: string, isError: boolean, count: number): Evidence =>
      evidenceIn(
        tallyOf(Array.from({ length: count }, () => ({ key, isError, isSlow: false }))),
        plan(0.05, undefined),
      );
    const attacked = [of("attacker", true, 50), of("attacker", true, 50), of("victim", false, 20)];
    expect(faultIn(joinEvidence(attacked), plan(0.05, undefined))).toBeUndefined();
    const broken = [...attacked, of("victim", true, 2)];
    expect(faultIn(joinEvidence(broken), plan(0.05, undefined))).toBe(
      "102 of its 122 requests failed, more than 5%",
    );
    expect(attacked.map(isBad)).toEqual([true, true, false]);
  });

  it("is read only where it is whole", () => {
    const whole = evidenceIn(tallyOf([{ key: "a", isError: true, isSlow: false }]), plan(0, 1));
    expect(readEvidence(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
    for (const wrong of [
      null,
      undefined,
      1,
      {},
      { ...whole, keys: [null] },
      { ...whole, errors: -1 },
    ])
      expect(readEvidence(wrong)).toBeUndefined();
  });
});
