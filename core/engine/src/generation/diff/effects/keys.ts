/**
 * Effects on declared keys: those that come and go, the models that each gains or loses, limits
 * raised and lowered.
 */

import type { DeclaredKey, Snapshot } from "../../../config/snapshot.ts";
import { accessEffects, isUnbounded, limitEffects, protectionEffects } from "./bounds.ts";
import { changesOf, isSame, listed, matched } from "./compare.ts";
import type { Effect } from "./effect.ts";

/** What an edit changes for keys. */
export function keyEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  const { removed, added, kept } = matched(live.keys, candidate.keys, ({ alias }) => alias);
  return [
    ...removed.map(({ alias }): Effect => ({
      risk: "danger",
      about: `key ${alias}`,
      message: "no longer opens anything",
    })),
    ...added.map((key): Effect => {
      const reach = key.models.length === 0 ? "every model" : listed(key.models);
      const limits = isUnbounded(key.limits) ? ", without limits" : "";
      return {
        risk: "caution",
        about: `key ${key.alias}`,
        message: `is new and may use ${reach}${limits}`,
        at: key.at,
      };
    }),
    ...kept.flatMap(([before, after]) => [
      ...accessEffects(before, after, {
        about: `key ${after.alias}`,
        at: after.at,
        live,
        candidate,
      }),
      ...limitEffects(before.limits, after.limits, { about: `key ${after.alias}`, at: after.at }),
      ...teamEffects(before, after, live, candidate),
      ...settingEffects(before, after),
    ]),
  ];
}

/** A key whose team is no longer declared is refused, unless the store has a team of that id. */
function teamEffects(
  before: DeclaredKey,
  after: DeclaredKey,
  live: Snapshot,
  candidate: Snapshot,
): Effect[] {
  const { teamId, alias, at } = after;
  const declares = ({ teams }: Snapshot): boolean => teams.some(({ id }) => id === teamId);
  if (teamId === undefined || teamId !== before.teamId) return [];
  if (!declares(live) || declares(candidate)) return [];
  const message = `belongs to the team ${teamId}, which is no longer declared: the key is refused, unless the store has its own team of that id`;
  return [{ risk: "danger", about: `key ${alias}`, message, at }];
}

function settingEffects(before: DeclaredKey, after: DeclaredKey): Effect[] {
  const about = `key ${after.alias}`;
  const { at } = after;
  const effects: Effect[] = [];
  if (!isSame(before.key, after.key))
    effects.push({
      risk: "danger",
      about,
      message: "has another value: the old one is refused",
      at,
    });
  effects.push(...protectionEffects(before, after, { about, at }));
  const others = changesOf(before, after, [
    "alias",
    "key",
    "models",
    "limits",
    "guardrails",
    "passthrough",
  ]);
  for (const change of others) {
    effects.push({
      risk: change.startsWith("tags") || change.startsWith("metadata") ? "safe" : "caution",
      about,
      message: change,
      at,
    });
  }
  return effects;
}
