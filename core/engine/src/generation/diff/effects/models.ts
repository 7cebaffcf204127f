/**
 * Effects on models: added and removed ones, targets, the choice of a target, and stand-in models.
 */

import type { ModelSettings, Snapshot, TargetSettings } from "../../../config/snapshot.ts";
import { targetFilter } from "@sluice/runtime";
import { tagRoutingOf } from "../../models.ts";
import { changedMembers, changesOf, isSame, listed, matched, valueText } from "./compare.ts";
import type { Effect, Risk } from "./effect.ts";

/** What an edit changes for models. */
export function modelEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  const { removed, added, kept } = matched(live.models, candidate.models, ({ id }) => id);
  const openKeys = "keys without a list of models may use it";
  return [
    ...removed.map(({ id }): Effect => {
      const instead = candidate.models.find(
        (model) => model.id.endsWith("*") && id.startsWith(model.id.slice(0, -1)),
      );
      const message =
        instead === undefined
          ? "is removed"
          : `is removed; the wildcard ${instead.id} takes its requests`;
      return { risk: instead === undefined ? "danger" : "caution", about: `model ${id}`, message };
    }),
    ...added.map((model): Effect => ({
      risk: "caution",
      about: `model ${model.id}`,
      message: `is added, at ${listed(model.targets.map(nameOf))}; ${openKeys}`,
      at: model.at,
    })),
    ...kept.flatMap(([before, after]) => [
      ...targetEffects(before, after),
      ...settingEffects(before, after),
    ]),
    ...wildcardOrder(live, candidate),
  ];
}

function nameOf({ provider, model }: TargetSettings): string {
  return `${provider}/${model}`;
}

function targetEffects(before: ModelSettings, after: ModelSettings): Effect[] {
  const about = `model ${after.id}`;
  const { at } = after;
  const from = providersOf(before);
  const to = providersOf(after);
  const effects: Effect[] = [];
  if (!isSame(from, to) && to.every((provider) => !from.includes(provider))) {
    effects.push({
      risk: "danger",
      about,
      message: `is redirected from ${listed(from)} to ${listed(to)}`,
      at,
    });
  } else if (!isSame(from, to)) {
    const gained = to.filter((provider) => !from.includes(provider));
    const lost = from.filter((provider) => !to.includes(provider));
    const parts = [
      gained.length > 0 && `also goes to ${listed(gained)}`,
      lost.length > 0 && `no longer goes to ${listed(lost)}`,
    ];
    effects.push({
      risk: "caution",
      about,
      message: parts.filter((part) => part !== false).join("; "),
      at,
    });
  }
  const { removed, added, kept } = matched(before.targets, after.targets, nameOf);
  if (removed.length > 0)
    effects.push({
      risk: "caution",
      about,
      message: `loses the target ${listed(removed.map(nameOf))}`,
      at,
    });
  if (added.length > 0) {
    effects.push({
      risk: "caution",
      about,
      message: `gains the target ${listed(added.map(nameOf))}`,
      at: added[0]?.at,
    });
  }
  for (const [old, now] of kept) {
    for (const change of changedMembers(old, now, ["price"])) {
      const [left, right] = [old, now].map(
        (target) => (target as unknown as Record<string, unknown>)[change] ?? PRESET[change],
      );
      const message = `target ${nameOf(now)}, ${WORDS[change] ?? change}: ${valueText(left)} -> ${valueText(right)}`;
      effects.push({ risk: riskOfTarget(change, left, right), about, message, at: now.at });
    }
  }
  return effects;
}

/** The defaults of a target's members. */
const PRESET: Readonly<Record<string, number | boolean>> = {
  weight: 1,
  priority: 0,
  queue: 0,
  dropParams: false,
  forwardMetadata: false,
};

const WORDS: Readonly<Record<string, string>> = {
  dropParams: "drop_params",
  forwardMetadata: "forward_metadata",
  maxParallel: "max_parallel",
  queueTimeoutMs: "queue_timeout in ms",
};

function riskOfTarget(member: string, before: unknown, after: unknown): Risk {
  if (member === "forwardMetadata") return after === true ? "danger" : "safe";
  if (member === "forward") return after === undefined ? "safe" : "danger";
  if (member === "weight") return after === 0 && before !== 0 ? "danger" : "caution";
  if (member === "tags") return after === undefined ? "danger" : "caution";
  if (member === "queue" || member === "queueTimeoutMs") return "safe";
  return "caution";
}

function settingEffects(before: ModelSettings, after: ModelSettings): Effect[] {
  const about = `model ${after.id}`;
  const { at } = after;
  const effects: Effect[] = [];
  if (before.mode !== after.mode) {
    effects.push({
      risk: "danger",
      about,
      message: `is for ${after.mode}, no longer for ${before.mode}`,
      at,
    });
  }
  if (before.balance !== after.balance) {
    const strategy = (name: string | undefined): string => name ?? "as the step says";
    effects.push({
      risk: "caution",
      about,
      message: `balance: ${strategy(before.balance)} -> ${strategy(after.balance)}`,
      at,
    });
  }
  for (const name of changedMembers(before.fallbacks ?? {}, after.fallbacks ?? {})) {
    const [from = [], to = []] = [before, after].map(
      ({ fallbacks }) => (fallbacks as Chains | undefined)?.[name],
    );
    const risk = to.length === 0 ? "danger" : to.length < from.length ? "caution" : "safe";
    effects.push({
      risk,
      about,
      message: `fallbacks for ${name}: ${chain(from)} -> ${chain(to)}`,
      at,
    });
  }
  if (before.onlyNamed !== after.onlyNamed) {
    const [risk, message] =
      after.onlyNamed === true
        ? (["caution", "is only for keys that name it"] as const)
        : (["danger", "is for every key without a model list, too"] as const);
    effects.push({ risk, about, message, at });
  }
  effects.push(...tagEffects(before, after), ...groupEffects(before, after));
  for (const change of changesOf(before.info ?? {}, after.info ?? {})) {
    effects.push({ risk: "safe", about, message: `info, ${change}`, at });
  }
  return effects;
}

/** Which requests a model serves by their tags; each target's tags are effects of the target. */
function tagEffects(before: ModelSettings, after: ModelSettings): Effect[] {
  const subject = { about: `model ${after.id}`, at: after.at };
  const [from, to] = [before, after].map((model) => {
    const { tagRouting } = tagRoutingOf(model);
    return tagRouting === undefined || targetFilter(tagRouting, [UNKNOWN_TAG]) !== undefined;
  });
  const effects: Effect[] = [];
  if (from === true && to === false) {
    const tags = [...new Set(after.targets.flatMap(({ tags: own = [] }) => own))];
    const message = `refuses requests, keys and teams with other tags than ${listed(tags)}: no target is tagged \`default\``;
    effects.push({ ...subject, risk: "danger", message });
  } else if (from === false && to === true) {
    const message = "serves requests, keys and teams with any tags";
    effects.push({ ...subject, risk: "danger", message });
  }
  const [old, now] = [before.matchTags, after.matchTags];
  if (old !== undefined && now !== undefined && old !== now) {
    const risk = now === "any" ? "danger" : "caution";
    effects.push({ ...subject, risk, message: `match_tags: ${old} -> ${now}` });
  }
  return effects;
}

/** A tag that no target can have. */
const UNKNOWN_TAG = "\0";

function groupEffects(before: ModelSettings, after: ModelSettings): Effect[] {
  const { at } = after;
  const about = `model ${after.id}`;
  const joined = after.accessGroups.filter((group) => !before.accessGroups.includes(group));
  const left = before.accessGroups.filter((group) => !after.accessGroups.includes(group));
  const effects: Effect[] = [];
  if (joined.length > 0) {
    const message = `joins ${listed(joined)}: keys that name the group may use it`;
    effects.push({ risk: "caution", about, message, at });
  }
  if (left.length > 0) {
    const message = `leaves ${listed(left)}: keys that name the group may no longer use it`;
    effects.push({ risk: "caution", about, message, at });
  }
  return effects;
}

type Chains = Readonly<Record<string, readonly string[]>>;

function chain(models: readonly string[]): string {
  return models.length === 0 ? "none" : models.join(", ");
}

function providersOf({ targets }: ModelSettings): readonly string[] {
  return [...new Set(targets.map(({ provider }) => provider))].toSorted();
}

/** A new wildcard takes what a shorter one took before. */
function wildcardOrder(live: Snapshot, candidate: Snapshot): Effect[] {
  const wildcards = (models: readonly ModelSettings[]): string[] =>
    models.map(({ id }) => id).filter((id) => id.endsWith("*"));
  const before = wildcards(live.models);
  return wildcards(candidate.models)
    .filter((id) => !before.includes(id))
    .flatMap((id): Effect[] => {
      const shorter = before.filter((other) => id.startsWith(other.slice(0, -1)));
      if (shorter.length === 0) return [];
      return [
        {
          risk: "caution",
          about: `model ${id}`,
          message: `takes requests that ${listed(shorter)} took`,
        },
      ];
    });
}
