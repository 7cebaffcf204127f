/** The step `hedge`: starts a second attempt beside a slow one. The first answer is the reply. */

import { type Holder, holderOf } from "@sluice/kit/internals";
import { defineStep, parseDuration } from "@sluice/kit";
import type { Host } from "@sluice/contract";
import { type RaceEnd, race } from "./race.ts";
import type { RecentTimes } from "./recent-times.ts";
import { type HedgeRecord, openRecords } from "./record.ts";
import { mayAttemptAgain } from "../retry/attempt-budget.ts";

/** Options of the step `hedge` as YAML has them. */
export interface HedgeConfig {
  readonly after: string;
  readonly initial_after?: string;
  readonly min_samples: number;
  readonly max_rate: string;
  readonly max: number;
}

const PERCENTILE = /^p([5-9][0-9])$/;
const COUNT_HEADER = "x-sluice-hedges";

export const hedge = defineStep<HedgeConfig>({
  name: "hedge",
  stability: "beta",
  summary:
    "Starts a second attempt beside a slow one, at another target where possible. The first answer wins.",
  config: {
    type: "object",
    required: ["after"],
    properties: {
      after: {
        type: "string",
        pattern: "^(p[5-9][0-9]|[0-9]{1,9}(ms|s|m))$",
        description:
          "How long an attempt may be without content: a duration, or `p50` to `p99`, a percentile of the model's last 128 times to first content (for whole replies: to the reply), and at most that of the key's own.",
      },
      initial_after: {
        type: "string",
        format: "duration",
        description:
          "For a percentile: the delay while the model has too few samples. Absent: no hedge until then.",
      },
      min_samples: {
        type: "integer",
        minimum: 2,
        maximum: 128,
        default: 20,
        description: "Minimum samples for a percentile.",
      },
      max_rate: {
        type: "string",
        pattern: "^(100|[1-9]?[0-9])%$",
        default: "5%",
        description:
          "Maximum share of a model's requests with a hedge. Further requests wait for their first attempt.",
      },
      max: {
        type: "integer",
        minimum: 1,
        maximum: 2,
        default: 1,
        description: "Maximum additional attempts, one delay apart.",
      },
    },
  },
  check: ({ after, initial_after: initial }) =>
    initial === undefined || PERCENTILE.test(after)
      ? []
      : [
          {
            path: ["initial_after"],
            message: "`initial_after` has no effect with a duration in `after`",
            fix: "remove it, or write a percentile in `after`",
          },
        ],
  operations: ["chat", "embeddings"],
  traits: { concurrent: true },
  order: {
    provides: ["hedge"],
    requires: [{ capability: "identity", reason: "an upstream call is charged to a key" }],
    before: [
      {
        capability: "target",
        reason:
          "the second attempt goes to a target of its own, and each has its place in the breaker",
      },
      { capability: "retry", reason: "each retry would start a hedge of its own" },
    ],
  },
  create(config, host) {
    const { clock } = host;
    const percent = Number.parseInt(config.max_rate, 10);
    const records = openRecords(host);
    const delayOf = delayFrom(config);
    return {
      async run({ exchange }, next) {
        const { model, request } = exchange;
        const record = model === undefined ? undefined : records.get(model.entry);
        // The step `provider` reports a model without a target.
        if (record === undefined || request === undefined) return next();
        const times = timesOf(record, request.stream);
        const holder = holderOf(exchange.identity);
        record.budget.request(percent, holder);
        const end = await race({
          exchange,
          next,
          clock,
          delayMs: delayOf(times, holder),
          mayJoin: (runners) =>
            runners <= config.max &&
            mayAttemptAgain(exchange) &&
            record.budget.take(percent, holder),
        });
        learn(end, times, holder, host);
        if (end.runners > 1) exchange.headers.set(COUNT_HEADER, String(end.runners - 1));
      },
    };
  },
});

function timesOf({ stream, whole }: HedgeRecord, isStream: boolean): RecentTimes {
  return isStream ? stream : whole;
}

/** The delay of an attempt, in milliseconds; `undefined` for no hedge. */
function delayFrom({
  after,
  initial_after: initial,
  min_samples: least,
}: HedgeConfig): (times: RecentTimes, holder: Holder) => number | undefined {
  const percentile = PERCENTILE.exec(after)?.[1];
  const fixedMs = parseDuration(percentile === undefined ? after : (initial ?? ""));
  if (percentile === undefined) return () => fixedMs;
  const share = Number(percentile) / 100;
  return (times, holder) =>
    times.count < least ? fixedMs : times.percentile(share, holder, least);
}

/**
 * Records the winner's time. A lost first attempt is recorded with the time that it had: without
 * such samples the percentile would fall with every hedge, and each hedge would cause more hedges.
 */
function learn(
  { winner, losers }: RaceEnd,
  times: RecentTimes,
  holder: Holder,
  { clock }: Host,
): void {
  const nowMs = clock.monotonic();
  times.add(nowMs - winner.startedMs, holder);
  for (const { startedMs, branch } of losers) {
    if (startedMs >= winner.startedMs) continue;
    times.add(nowMs - startedMs, holder);
    // The time before the winner's start was a wait for this attempt, not overhead of the gateway.
    branch.attempts.at(-1)?.waited(winner.startedMs - startedMs);
  }
}
