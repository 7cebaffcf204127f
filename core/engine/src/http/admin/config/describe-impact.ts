/** The answers of the config routes: the effects of an edit, and its replay. */

import { formatEffect, summaryOf } from "../../../generation/diff/effects/effect.ts";
import type { ChangeImpact } from "../../../generation/diff/config-diff.ts";
import { countOf, type Replay } from "../../../generation/diff/replay.ts";
import { budgetDollars } from "../dollars.ts";

/** Describes what an edit changes. */
export function describeImpact({ effects, replay }: ChangeImpact) {
  return {
    ...summaryOf(effects),
    effects: effects.map(({ risk, about, message, at }) => ({
      risk,
      about,
      message,
      file: at?.file ?? null,
      line: at?.line ?? null,
      text: formatEffect({ risk, about, message }),
    })),
    ...(replay === undefined ? {} : { replay: describeReplay(replay) }),
  };
}

function describeReplay({ evaluated, spend, ...tallies }: Replay) {
  const counted = Object.entries(tallies).map(
    ([name, groups]) => [name, { count: countOf(groups), groups }] as const,
  );
  const {
    requests,
    didCostNanoUsd: did,
    wouldCostNanoUsd: would,
    refusedNanoUsd: refused,
    unknown,
  } = spend;
  return {
    evaluated,
    ...Object.fromEntries(counted),
    spend: {
      requests,
      did_cost: budgetDollars(did),
      would_cost: { least: budgetDollars(would.least), most: budgetDollars(would.most) },
      refused: budgetDollars(refused),
      unknown,
    },
  };
}
