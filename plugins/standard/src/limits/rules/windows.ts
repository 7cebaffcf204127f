/** Rates and concurrency: which ones of the options and of a record hold. */

import { parseDuration } from "@sluice/kit";
import type { Amounts, Identity, Model } from "@sluice/contract";
import type { LimitsConfig, WindowSubject } from "../config.ts";
import { countedKey, namesOfKey } from "./maker.ts";
import { MINUTE_MS, rate, type Rule, slot, type Subject, subjectOf } from "./rule.ts";

/** The rates and slots of some amounts of a record. */
export function amountRules(
  subject: Subject,
  subjectKey: string,
  { rpm, tpm, maxParallelRequests: parallel }: Amounts,
): Rule[] {
  const rules: Rule[] = [];
  if (rpm !== null) rules.push(rate(subject, subjectKey, "requests", rpm, MINUTE_MS));
  if (tpm !== null) rules.push(rate(subject, subjectKey, "tokens", tpm, MINUTE_MS));
  if (parallel !== null) rules.push(slot(subject, subjectKey, parallel));
  return rules;
}

/** The windows and slots of the options that hold for an identity at a model. */
export function optionRules(
  { windows, parallel }: LimitsConfig,
  identity: Identity,
  model: Model | undefined,
): Rule[] {
  const rules: Rule[] = [];
  for (const { per, requests, tokens, window, only } of windows) {
    const id = subjectId(per, identity, model);
    if (id === undefined || !isMeant(only, per, identity, model)) continue;
    const lengthMs = parseDuration(window) ?? MINUTE_MS;
    const [subject, subjectKey] = [subjectOf(per, id, identity), `${per}:${id}`];
    if (requests !== undefined)
      rules.push(rate(subject, subjectKey, "requests", requests, lengthMs));
    if (tokens !== undefined) rules.push(rate(subject, subjectKey, "tokens", tokens, lengthMs));
  }
  for (const { per, requests, only } of parallel) {
    const id = subjectId(per, identity, model);
    if (id !== undefined && isMeant(only, per, identity, model))
      rules.push(slot(subjectOf(per, id, identity), `${per}:${id}`, requests));
  }
  return rules;
}

function subjectId(
  per: WindowSubject,
  identity: Identity,
  model: Model | undefined,
): string | undefined {
  const { userId, teamId } = identity;
  switch (per) {
    case "key":
      return countedKey(identity);
    case "user":
      return userId;
    case "team":
      return teamId;
    case "model":
      return model?.entry;
    case "key_model":
      return model === undefined ? undefined : `${countedKey(identity)}:${model.entry}`;
    case "global":
      return "all";
  }
}

function isMeant(
  only: readonly string[] | undefined,
  per: WindowSubject,
  identity: Identity,
  model: Model | undefined,
): boolean {
  if (only === undefined) return true;
  const names =
    per === "model"
      ? [model?.entry]
      : per === "key_model"
        ? [model?.entry, ...namesOfKey(identity)]
        : per === "key"
          ? namesOfKey(identity)
          : [subjectId(per, identity, model)];
  return only.some((name) => names.includes(name));
}
