/** Effects on declared teams: those that come and go, and what each allows its keys. */

import type { DeclaredTeam, Snapshot } from "../../../config/snapshot.ts";
import { accessEffects, isUnbounded, limitEffects, protectionEffects } from "./bounds.ts";
import { changesOf, listed, matched } from "./compare.ts";
import type { Effect } from "./effect.ts";

/** What an edit changes for teams. */
export function teamEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  const { removed, added, kept } = matched(live.teams, candidate.teams, ({ id }) => id);
  return [
    ...removed.map(({ id }): Effect => ({
      risk: "danger",
      about: `team ${id}`,
      message:
        "is no longer declared: its keys are refused, unless the store has its own team of that id",
    })),
    ...added.map((team): Effect => {
      const reach = team.models.length === 0 ? "every model" : listed(team.models);
      const limits = isUnbounded(team) ? ", without limits" : "";
      const blocked = team.blocked ? ", and is blocked" : "";
      return {
        risk: "caution",
        about: `team ${team.id}`,
        message: `is new and may use ${reach}${limits}${blocked}; it wins over a team of the store with that id`,
        at: team.at,
      };
    }),
    ...kept.flatMap(([before, after]) => changed(before, after, live, candidate)),
  ];
}

function changed(
  before: DeclaredTeam,
  after: DeclaredTeam,
  live: Snapshot,
  candidate: Snapshot,
): Effect[] {
  const subject = { about: `team ${after.id}`, at: after.at };
  const blocked: Effect[] =
    before.blocked === after.blocked
      ? []
      : after.blocked
        ? [{ ...subject, risk: "danger", message: "is blocked: its keys are refused" }]
        : [{ ...subject, risk: "caution", message: "is no longer blocked" }];
  return [
    ...blocked,
    ...accessEffects(before, after, { ...subject, live, candidate }),
    ...limitEffects(before, after, subject),
    ...protectionEffects(before, after, subject),
    ...changesOf(before, after, COMPARED).map((message): Effect => ({
      ...subject,
      risk: message.startsWith("allowedTags") ? "caution" : "safe",
      message,
    })),
  ];
}

/** The members that have effects of their own. */
export const COMPARED: readonly string[] = [
  "blocked",
  "models",
  "guardrails",
  "passthrough",
  "maxBudgetNanoUsd",
  "softBudgetNanoUsd",
  "budgetDuration",
  "rpm",
  "tpm",
  "maxParallelRequests",
];
