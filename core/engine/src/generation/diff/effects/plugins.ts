/**
 * Effects on providers and guardrails: credentials that come and go, addresses, timeouts, modes.
 */

import { Secret } from "@sluice/contract";
import type { GuardrailUseSettings, ProviderSettings, Snapshot } from "../../../config/snapshot.ts";
import { changedMembers, changesOf, isSame, listed, matched, valueText } from "./compare.ts";
import type { Effect, Risk } from "./effect.ts";

/** The effects on providers. */
export function providerEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  const { removed, added, kept } = matched(live.providers, candidate.providers, ({ name }) => name);
  return [
    ...removed.map(({ name }): Effect => ({
      risk: "caution",
      about: `provider ${name}`,
      message: "is removed",
    })),
    ...added.map(({ name, use, missing, at }): Effect => {
      const state =
        missing.length === 0 ? "" : `; unavailable: ${listed(missing)} does not resolve`;
      return { risk: "safe", about: `provider ${name}`, message: `is added (${use})${state}`, at };
    }),
    ...kept.flatMap(([before, after]) => oneProvider(before, after)),
  ];
}

function oneProvider(before: ProviderSettings, after: ProviderSettings): Effect[] {
  const about = `provider ${after.name}`;
  const { at } = after;
  const effects: Effect[] = [];
  if (before.missing.length === 0 && after.missing.length > 0) {
    effects.push({
      risk: "danger",
      about,
      message: `becomes unavailable: ${listed(after.missing)} does not resolve`,
      at,
    });
  }
  if (before.missing.length > 0 && after.missing.length === 0) {
    effects.push({
      risk: "caution",
      about,
      message: "becomes available: its targets get requests",
      at,
    });
  }
  if (before.use !== after.use) {
    effects.push({
      risk: "danger",
      about,
      message: `is another plugin: ${before.use} -> ${after.use}`,
      at,
    });
  }
  // Options that do not resolve are no change of the operator's.
  const isResolved = before.missing.length === 0 && after.missing.length === 0;
  const options = isResolved ? changedMembers(before.options, after.options) : [];
  for (const option of options)
    effects.push({ ...optionEffect(option, before.options, after.options), about, at });
  for (const change of changesOf(before.timeouts, after.timeouts)) {
    effects.push({ risk: "caution", about, message: `timeout ${change}`, at });
  }
  if (!isSame(before.fetchMedia, after.fetchMedia))
    effects.push({ ...fetchEffect(before, after), about, at });
  for (const effect of openedEffects(before, after)) effects.push({ ...effect, about, at });
  for (const change of changesOf(before, after, [
    "name",
    "use",
    "options",
    "missing",
    "timeouts",
    "endpoints",
    "accountObjects",
    "fetchMedia",
  ])) {
    effects.push({ risk: "caution", about, message: change, at });
  }
  return effects;
}

/** What keys reach of the provider's account: paths of its own API, and objects by their ids. */
function openedEffects(
  before: ProviderSettings,
  after: ProviderSettings,
): readonly Pick<Effect, "risk" | "message">[] {
  const parts = [
    ["native endpoints", before.endpoints, after.endpoints, "inference"],
    ["objects of the account", before.accountObjects, after.accountObjects, "none"],
  ] as const;
  return parts.flatMap(([what, from, to, closed]) =>
    isSame(from, to)
      ? []
      : [
          {
            risk: to === closed ? "caution" : "danger",
            message: `${what}: ${valueText(from)} -> ${valueText(to)}`,
          } as const,
        ],
  );
}

/** The gateway asks hosts that clients name: that begins, ends, or has other bounds. */
function fetchEffect(
  { fetchMedia: from }: ProviderSettings,
  { fetchMedia: to }: ProviderSettings,
): Pick<Effect, "risk" | "message"> {
  if (to === undefined)
    return { risk: "caution", message: "no longer fetches what clients name by URL" };
  if (from === undefined)
    return { risk: "danger", message: `fetches what clients name by URL: ${valueText(to)}` };
  return { risk: "danger", message: `fetch_media: ${changesOf(from, to).join("; ")}` };
}

/** Options that set the address of requests, or the account that they use. */
const ADDRESS = /url|endpoint|region|location|project|organization|tenant|account/;

function optionEffect(
  option: string,
  before: Members,
  after: Members,
): Pick<Effect, "risk" | "message"> {
  const [from, to] = [before[option], after[option]];
  if (from instanceof Secret || to instanceof Secret) {
    return { risk: "caution", message: `has another ${option}: the next upstream call uses it` };
  }
  return {
    risk: ADDRESS.test(option) ? "danger" : "caution",
    message: `${option}: ${valueText(from)} -> ${valueText(to)}`,
  };
}

type Members = Readonly<Record<string, unknown>>;

/** The effects on guardrails. */
export function guardrailEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  const { removed, added, kept } = matched(
    live.guardrails,
    candidate.guardrails,
    ({ name }) => name,
  );
  return [
    ...removed.map(({ name }): Effect => ({
      risk: "danger",
      about: `guardrail ${name}`,
      message: "is removed",
    })),
    ...added.map(({ name, use, settings, at }): Effect => {
      const where = settings.defaultOn ? "runs wherever the step stands" : "runs where it is named";
      return {
        risk: "caution",
        about: `guardrail ${name}`,
        message: `is added (${use}, ${settings.mode}); ${where}`,
        at,
      };
    }),
    ...kept.flatMap(([before, after]) => oneGuardrail(before, after)),
  ];
}

/** By member and new value: what weakens a guardrail. */
const WEAKER: Readonly<Record<string, unknown>> = {
  mode: "shadow",
  onError: "skip",
  defaultOn: false,
};

function oneGuardrail(before: GuardrailUseSettings, after: GuardrailUseSettings): Effect[] {
  const about = `guardrail ${after.name}`;
  const { at } = after;
  const effects: Effect[] = [];
  if (before.use !== after.use) {
    effects.push({
      risk: "danger",
      about,
      message: `is another plugin: ${before.use} -> ${after.use}`,
      at,
    });
  }
  for (const change of changesOf(before.options, after.options))
    effects.push({ risk: "caution", about, message: change, at });
  for (const change of changesOf(before, after, ["name", "use", "options", "settings"])) {
    effects.push({ risk: "caution", about, message: change, at });
  }
  const settings = changedMembers(before.settings, after.settings);
  for (const member of settings) {
    const [from, to] = [before, after].map((use) => (use.settings as unknown as Members)[member]);
    const isWeaker =
      (Object.hasOwn(WEAKER, member) && WEAKER[member] === to) ||
      (member === "scope" && to !== undefined);
    const risk: Risk = isWeaker ? "danger" : "caution";
    effects.push({
      risk,
      about,
      message: `${WORDS[member] ?? member}: ${valueText(from)} -> ${valueText(to)}`,
      at,
    });
  }
  return effects;
}

const WORDS: Readonly<Record<string, string>> = {
  onError: "on_error",
  defaultOn: "default_on",
  budgetMs: "budget_ms",
  maxText: "max_text",
};
