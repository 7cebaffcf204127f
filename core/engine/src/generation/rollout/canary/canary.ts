/** A canary: a candidate that serves a share of the keys for a while, and then all keys or none. */

import { createHash } from "node:crypto";
import type { Generation } from "../../generation.ts";
import { evidenceOf } from "../ended-by-key.ts";
import { percent } from "./percent.ts";
import { Tally } from "../tally.ts";

/** The plan of a canary. */
export interface CanaryPlan {
  /** The share of the keys, between 0 and 1. */
  readonly share: number;
  readonly forMs: number;
  /** The minimum number of requests for a verdict. */
  readonly minRequests: number;
  /** The bounds of which either one, exceeded, ends the canary. */
  readonly abortIf: { readonly errorRate: number | undefined; readonly p99Ms: number | undefined };
  /** The fleet decides: this process counts its requests, and gives no verdict. */
  readonly isOfFleet?: boolean;
}

/** The end of a canary. */
export type CanaryEnd = "promoted" | "returned";

/** The verdict of one process on a canary. Several processes decide together. */
export interface CanaryVerdict {
  readonly digest: string;
  /** `fault`: it must be rolled back. `time`: its time is over without a fault in this process. */
  readonly kind: "fault" | "time";
  readonly reason: string;
  readonly requests: number;
  readonly minRequests: number;
}

/** A canary that runs. */
export interface Canary {
  readonly generation: Generation;
  readonly plan: CanaryPlan;
  readonly beganAtMs: number;
  readonly tally: Tally;
  /** The generation of all other keys. */
  readonly liveTally: Tally;
  /**
   * Whether a key belongs to the share. A hash decides, so that the answer for a key never changes.
   */
  has(presented: string): boolean;
  /** Ends its clock. */
  stop(): void;
}

/** The 99th percentile is checked once per this number of requests. */
const P99_EVERY = 16;
const HASHED = 2 ** 32;
const TIME_IS_OVER = "its time is over";

/** Starts a canary's clock. `onVerdict` is called once, with a reason in words. */
export function startCanary(
  generation: Generation,
  live: Generation,
  plan: CanaryPlan,
  nowMs: number,
  onVerdict: (verdict: CanaryVerdict) => void,
): Canary {
  const { minRequests } = plan;
  const { digest } = generation.snapshot;
  const { isOfFleet = false } = plan;
  let isOver = isOfFleet;
  const judge = (kind: CanaryVerdict["kind"], reason: string): void => {
    if (isOver) return;
    stop();
    onVerdict({ digest, kind, reason, requests: tally.requests, minRequests });
  };
  const change = { from: live.snapshot, to: generation.snapshot };
  const tally = new Tally(
    () => {
      const fault =
        !isOver && tally.requests >= minRequests
          ? faultOf(plan, tally, tally.requests % P99_EVERY === 0)
          : undefined;
      if (fault !== undefined) judge("fault", fault);
    },
    (counted) => evidenceOf(counted, change),
  );
  const liveTally = new Tally();
  const others = live.tally;
  generation.tally = tally;
  live.tally =
    others === undefined
      ? liveTally
      : { add: (counted) => [others, liveTally].forEach((one) => one.add(counted)) };
  const timer = isOfFleet
    ? undefined
    : setTimeout(() => {
        const fault = tally.requests < minRequests ? undefined : faultOf(plan, tally, true);
        if (fault === undefined) judge("time", TIME_IS_OVER);
        else judge("fault", fault);
      }, plan.forMs);
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
    generation.tally = undefined;
    live.tally = others;
  };
  // Not of the values of references: machines with other secrets select the same keys.
  const seed = `${generation.snapshot.contents}\0`;
  const has = (presented: string): boolean =>
    createHash("sha256").update(seed).update(presented).digest().readUInt32BE(0) <
    plan.share * HASHED;
  return { generation, plan, beganAtMs: nowMs, tally, liveTally, has, stop };
}

/** The decision of one or several processes. A canary with too few requests is rolled back. */
export function endOf(
  verdicts: readonly [CanaryVerdict, ...CanaryVerdict[]],
): readonly [CanaryEnd, string] {
  const fault = verdicts.find(({ kind }) => kind === "fault");
  if (fault !== undefined) return ["returned", fault.reason];
  const [{ minRequests }] = verdicts;
  const requests = verdicts.reduce((total, verdict) => total + verdict.requests, 0);
  if (requests >= minRequests) return ["promoted", TIME_IS_OVER];
  return [
    "returned",
    `${TIME_IS_OVER}, and it had ${requests} of the ${minRequests} requests that it is judged by`,
  ];
}

function faultOf({ abortIf }: CanaryPlan, tally: Tally, looksAtWaits: boolean): string | undefined {
  const { errorRate, p99Ms } = abortIf;
  if (errorRate !== undefined && tally.byKey.exceeds(errorRate)) {
    return `${tally.byKey.errors} of its ${tally.requests} requests failed, more than ${percent(errorRate)}`;
  }
  if (!looksAtWaits || p99Ms === undefined || !tally.waitsExceed(p99Ms)) return undefined;
  return `one in a hundred of its requests waited more than ${p99Ms} ms for content`;
}
