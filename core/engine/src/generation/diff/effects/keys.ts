/**
 * Effects on declared keys: those that come and go, the models that each gains or loses, limits
 * raised and lowered.
 */

import type { RecordLimits } from "@sluice/contract";
import { dollarsOf } from "@sluice/runtime";
import type { DeclaredKey, Snapshot } from "../../../config/snapshot.ts";
import { names } from "../../authority.ts";
import { changesOf, isSame, listed, matched, valueText } from "./compare.ts";
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
      const limits = isUnbounded(key) ? ", without limits" : "";
      return {
        risk: "caution",
        about: `key ${key.alias}`,
        message: `is new and may use ${reach}${limits}`,
        at: key.at,
      };
    }),
    ...kept.flatMap(([before, after]) => [
      ...accessEffects(before, after, live, candidate),
      ...limitEffects(before, after),
      ...settingEffects(before, after),
    ]),
  ];
}

/** Whether nothing would ever be refused: a soft budget only warns. */
function isUnbounded({ limits }: DeclaredKey): boolean {
  if (limits === undefined) return true;
  const { maxBudgetNanoUsd, rpm, tpm, maxParallelRequests } = limits;
  return [maxBudgetNanoUsd, rpm, tpm, maxParallelRequests].every((bound) => bound === null);
}

/**
 * The models that a key may use, among those that exist before and after: a model that is added or
 * removed is reported with the models.
 */
function accessEffects(
  before: DeclaredKey,
  after: DeclaredKey,
  live: Snapshot,
  candidate: Snapshot,
): Effect[] {
  const old = usable(before, live);
  const now = usable(after, candidate);
  const isThere = (snapshot: Snapshot, id: string): boolean =>
    snapshot.models.some((model) => model.id === id);
  const gained = [...now].filter((id) => !old.has(id) && isThere(live, id));
  const lost = [...old].filter((id) => !now.has(id) && isThere(candidate, id));
  const about = `key ${after.alias}`;
  const { at } = after;
  return [
    ...(gained.length === 0
      ? []
      : [{ risk: "caution" as const, about, message: `gains the models ${listed(gained)}`, at }]),
    ...(lost.length === 0
      ? []
      : [{ risk: "danger" as const, about, message: `loses the models ${listed(lost)}`, at }]),
  ];
}

function usable({ models: list }: DeclaredKey, { models }: Snapshot): ReadonlySet<string> {
  const ids = models
    .filter(({ id, accessGroups }) => names(list, { id, entry: id, accessGroups }))
    .map(({ id }) => id);
  return new Set(ids);
}

const LIMITS: Readonly<Record<keyof RecordLimits, string>> = {
  maxBudgetNanoUsd: "budget in dollars",
  softBudgetNanoUsd: "soft budget in dollars",
  budgetDuration: "budget duration",
  rpm: "requests a minute",
  tpm: "tokens a minute",
  maxParallelRequests: "requests at the same time",
};

function limitEffects(before: DeclaredKey, after: DeclaredKey): Effect[] {
  return (Object.keys(LIMITS) as (keyof RecordLimits)[]).flatMap((name): Effect[] => {
    const [from, to] = [before, after].map(({ limits }) => limits?.[name] ?? null);
    if (from === to) return [];
    const about = `key ${after.alias}`;
    const shown = (value: unknown): string =>
      name.endsWith("NanoUsd") && typeof value === "number"
        ? String(dollarsOf(value))
        : valueText(value);
    const what = `${LIMITS[name]}: ${shown(from)} -> ${shown(to)}`;
    if (name === "budgetDuration" || name === "softBudgetNanoUsd")
      return [{ risk: "caution", about, message: what, at: after.at }];
    if (to === null)
      return [{ risk: "danger", about, message: `${what} (no limit any more)`, at: after.at }];
    const isRaised = from !== null && Number(to) > Number(from);
    return [
      {
        risk: "caution",
        about,
        message: `${what} (${isRaised ? "raised" : "lowered"})`,
        at: after.at,
      },
    ];
  });
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
  const lost = before.guardrails.filter((name) => !after.guardrails.includes(name));
  const gained = after.guardrails.filter((name) => !before.guardrails.includes(name));
  if (lost.length > 0)
    effects.push({ risk: "danger", about, message: `loses the guardrails ${listed(lost)}`, at });
  if (gained.length > 0)
    effects.push({ risk: "caution", about, message: `gains the guardrails ${listed(gained)}`, at });
  if ((before.passthrough ?? false) !== (after.passthrough ?? false)) {
    const isOpened = after.passthrough === true;
    const risk = isOpened ? "danger" : "caution";
    const message = isOpened
      ? "gains every native path of the providers"
      : "loses the native paths beside inference";
    effects.push({ risk, about, message, at });
  }
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
