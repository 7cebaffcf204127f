/** Effects on what keys and teams have in common: models, limits, guardrails, native paths. */

import type { RecordLimits } from "@sluice/contract";
import { dollarsOf } from "@sluice/runtime";
import type { DeclaredKey, ModelSettings, Position, Snapshot } from "../../../config/snapshot.ts";
import { namesModel, targetFilter } from "@sluice/runtime";
import { tagRoutingOf } from "../../models.ts";
import { listed, valueText } from "./compare.ts";
import type { Effect } from "./effect.ts";

/** The subject of effects, and its place in the candidate. */
interface Subject {
  readonly about: string;
  readonly at: Position;
}

/** Both configurations. */
interface Both {
  readonly live: Snapshot;
  readonly candidate: Snapshot;
}

/** A declared key or team. */
type Bounded = Pick<DeclaredKey, "models" | "guardrails"> & {
  readonly passthrough?: boolean;
  readonly tags?: readonly string[];
  readonly teamId?: string | undefined;
};

/** Whether nothing would ever be refused: a soft budget only warns. */
export function isUnbounded(limits: RecordLimits | undefined): boolean {
  if (limits === undefined) return true;
  const { maxBudgetNanoUsd, rpm, tpm, maxParallelRequests } = limits;
  return [maxBudgetNanoUsd, rpm, tpm, maxParallelRequests].every((bound) => bound === null);
}

/**
 * The models that a key or a team may use, among those that exist before and after: a model that is
 * added or removed is reported with the models.
 */
export function accessEffects(
  before: Bounded,
  after: Bounded,
  { about, at, live, candidate }: Subject & Pick<Both, "live" | "candidate">,
): Effect[] {
  const old = usable(before, live);
  const now = usable(after, candidate);
  const isThere = (snapshot: Snapshot, id: string): boolean =>
    snapshot.models.some((model) => model.id === id);
  const gained = [...now].filter((id) => !old.has(id) && isThere(live, id));
  const lost = [...old].filter((id) => !now.has(id) && isThere(candidate, id));
  return [
    ...(gained.length === 0
      ? []
      : [{ risk: "caution" as const, about, message: `gains the models ${listed(gained)}`, at }]),
    ...(lost.length === 0
      ? []
      : [{ risk: "danger" as const, about, message: `loses the models ${listed(lost)}`, at }]),
  ];
}

/** The models that a record's list names and that its tags, and those of its team, can reach. */
function usable(
  { models: list, tags: own = [], teamId }: Bounded,
  { models, teams }: Snapshot,
): ReadonlySet<string> {
  const team = teamId === undefined ? undefined : teams.find(({ id }) => id === teamId);
  const tags = [...own, ...(team?.tags ?? [])];
  const ids = models
    .filter(({ id, accessGroups }) => namesModel(list, { id, entry: id, accessGroups }))
    .filter((model) => isFor(model, tags))
    .map(({ id }) => id);
  return new Set(ids);
}

function isFor(model: ModelSettings, tags: readonly string[]): boolean {
  const { tagRouting } = tagRoutingOf(model);
  return tagRouting === undefined || targetFilter(tagRouting, tags) !== undefined;
}

/** The limits that a file declares. */
type Limit = Exclude<keyof RecordLimits, "importedSpend">;

const LIMITS: Readonly<Record<Limit, string>> = {
  maxBudgetNanoUsd: "budget in dollars",
  softBudgetNanoUsd: "soft budget in dollars",
  budgetDuration: "budget duration",
  rpm: "requests a minute",
  tpm: "tokens a minute",
  maxParallelRequests: "requests at the same time",
};

/** Limits raised, lowered, set and removed. */
export function limitEffects(
  before: RecordLimits | undefined,
  after: RecordLimits | undefined,
  { about, at }: Subject,
): Effect[] {
  return (Object.keys(LIMITS) as Limit[]).flatMap((name): Effect[] => {
    const [from, to] = [before, after].map((limits) => limits?.[name] ?? null);
    if (from === to) return [];
    const shown = (value: unknown): string =>
      name.endsWith("NanoUsd") && typeof value === "number"
        ? String(dollarsOf(value))
        : valueText(value);
    const what = `${LIMITS[name]}: ${shown(from)} -> ${shown(to)}`;
    if (name === "budgetDuration" || name === "softBudgetNanoUsd")
      return [{ risk: "caution", about, message: what, at }];
    if (to === null) return [{ risk: "danger", about, message: `${what} (no limit any more)`, at }];
    const isRaised = from !== null && Number(to) > Number(from);
    return [
      {
        risk: "caution",
        about,
        message: `${what} (${isRaised ? "raised" : "lowered"})`,
        at,
      },
    ];
  });
}

/** Guardrails and native paths that come and go. */
export function protectionEffects(
  before: Bounded,
  after: Bounded,
  { about, at }: Subject,
): Effect[] {
  const effects: Effect[] = [];
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
  return effects;
}
