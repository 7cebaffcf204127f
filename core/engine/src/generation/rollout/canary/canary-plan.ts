/** Plans of canaries, as they are written: `5%`, `10m`, `error_rate>5% or p99>20s`. */

import { parseDuration } from "@sluice/kit";
import { GatewayError } from "@sluice/contract";
import type { CanaryPlan } from "./canary.ts";

/** The words of a plan. What is absent has its default. */
export interface CanaryWords {
  readonly share: string;
  readonly for?: string | undefined;
  readonly abortIf?: string | undefined;
  readonly minRequests?: number | undefined;
}

const DEFAULT_FOR = "10m";
const DEFAULT_ABORT_IF = "error_rate>5%";
const DEFAULT_MIN_REQUESTS = 20;
const LONGEST_MS = 7 * 86_400_000;

/** Reads a plan. Throws `invalid_field` with the words that are wrong. */
export function readPlan(words: CanaryWords): CanaryPlan {
  const share = percentOf(words.share);
  if (share === undefined || share === 0)
    throw wrong("share", `${words.share} is no share: write one such as 5%.`);
  const forMs = parseDuration(words.for ?? DEFAULT_FOR);
  if (forMs === undefined || forMs < 1_000 || forMs > LONGEST_MS) {
    throw wrong("for", `${words.for} is no time from 1s to 7d: write one such as 10m.`);
  }
  const minRequests = words.minRequests ?? DEFAULT_MIN_REQUESTS;
  if (!Number.isSafeInteger(minRequests) || minRequests < 0)
    throw wrong("min_requests", "It is a whole number, 0 or more.");
  return { share, forMs, minRequests, abortIf: abortIfOf(words.abortIf ?? DEFAULT_ABORT_IF) };
}

function abortIfOf(text: string): CanaryPlan["abortIf"] {
  let errorRate: number | undefined;
  let p99Ms: number | undefined;
  for (const part of text.split(/\s+or\s+/)) {
    const [, name, limit = ""] = /^\s*(error_rate|p99)\s*>\s*(\S+)\s*$/.exec(part) ?? [];
    if (name === "error_rate") errorRate = percentOf(limit);
    if (name === "p99") p99Ms = parseDuration(limit);
    if ((name === "error_rate" ? errorRate : name === "p99" ? p99Ms : undefined) === undefined) {
      throw wrong(
        "abort_if",
        `${part.trim()} is no condition: write \`error_rate>5%\`, \`p99>20s\`, or both with \`or\` between.`,
      );
    }
  }
  return { errorRate, p99Ms };
}

function percentOf(text: string): number | undefined {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,2})?)%$/.exec(text.trim()) ?? [];
  const share = Number(digits) / 100;
  return share >= 0 && share <= 1 ? share : undefined;
}

function wrong(field: string, message: string): GatewayError {
  return new GatewayError("invalid_field", message, { param: `canary.${field}` });
}
