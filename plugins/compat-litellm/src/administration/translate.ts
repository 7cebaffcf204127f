/**
 * LiteLLM's fields of a record as the gateway's. A limit that the gateway cannot enforce is
 * refused; what grants something, or has no effect here, is left out and named in the answer.
 */

import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** What becomes of a field. */
export type Rule =
  /** The gateway has it under this name. */
  | { readonly to: string; readonly read?: (value: JsonValue) => JsonValue }
  /** It grants something, or has no effect: it is left out. */
  | { readonly drop: true }
  /** It restricts: left out where it is unset, else refused with this advice. */
  | { readonly refuse: string };

/** Rules by LiteLLM's names. Other fields stay as they are. */
export type FieldRules = Readonly<Record<string, Rule>>;

/** A body in the gateway's words. */
export interface Translated {
  readonly body: JsonObject;
  /** Fields that were left out although they said something. */
  readonly ignored: readonly string[];
}

/** An id that forms send empty. */
export const id = (to: string): Rule => ({ to, read: (value) => (value === "" ? null : value) });
/** A flag of the gateway that is true by default: `false` says something. */
export const flag = (to: string): Rule => ({ to });
export const DROP: Rule = { drop: true };

/**
 * A list of models with LiteLLM's words for lists. A list that allows all models is empty here. A
 * name that no model has, such as `no-default-models`, allows none.
 */
export const MODELS: Rule = {
  to: "models",
  read: (value) => {
    const list = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
    return list.some((name) => ALL_MODELS.has(name)) ? [] : value;
  },
};
const ALL_MODELS: ReadonlySet<JsonValue> = new Set(["all-proxy-models", "all-team-models"]);

const PER_MODEL = ["model_max_budget", "model_rpm_limit", "model_tpm_limit"];

/** Translates a body. `isNew`: unset fields are left out; else null clears. */
export function translate(body: JsonObject, rules: FieldRules, isNew: boolean): Translated {
  const found: Record<string, JsonValue> = {};
  const ignored: string[] = [];
  for (const [name, value = null] of Object.entries(body)) {
    if (PER_MODEL.includes(name)) continue;
    const rule = rules[name];
    if (rule === undefined) found[name] = value;
    else if ("to" in rule) found[rule.to] = rule.read?.(value) ?? (rule.read ? null : value);
    else if (isUnset(value)) continue;
    else if ("drop" in rule) {
      if (value !== 0) ignored.push(name);
    } else throw refused(name, rule.refuse);
  }
  const perModel = perModelOf(body);
  if (perModel !== undefined) found["per_model"] = perModel;
  // What a new record does not say has its default.
  const kept = isNew
    ? Object.entries(found).filter(([name, value]) => !isUnset(value) || isSaid(name, value, rules))
    : undefined;
  return { body: kept === undefined ? found : Object.fromEntries(kept), ignored };
}

/** Whether `false` says something: the gateway's field has another default. */
function isSaid(name: string, value: JsonValue, rules: FieldRules): boolean {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  return value === false && rule !== undefined && "to" in rule;
}

/** Whether a value says nothing: scripts and Terraform send every field. */
export function isUnset(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** The refusal of a field. */
export function refused(name: string, advice: string): GatewayError {
  const message = `The field ${name} restricts in a way that this gateway does not enforce. ${advice}`;
  return new GatewayError("invalid_field", message, { param: name });
}

/** Limits by model: LiteLLM has a map for each kind of limit. */
function perModelOf(body: JsonObject): JsonObject | undefined {
  if (PER_MODEL.every((name) => body[name] === undefined)) return undefined;
  const models: Record<string, Record<string, JsonValue>> = {};
  const add = (model: string, limits: Readonly<Record<string, JsonValue>>): void => {
    models[model] = { ...models[model], ...limits };
  };
  for (const [model, value] of Object.entries(objectOf(body.model_max_budget))) {
    const budget = isObject(value) ? value : { max_budget: value ?? null };
    add(model, {
      ...amount("max_budget", budget.max_budget ?? budget.budget_limit),
      ...amount("budget_duration", budget.budget_duration ?? budget.time_period),
      ...amount("rpm_limit", budget.rpm_limit),
      ...amount("tpm_limit", budget.tpm_limit),
    });
  }
  for (const name of ["rpm_limit", "tpm_limit"])
    for (const [model, value] of Object.entries(objectOf(body[`model_${name}`])))
      add(model, amount(name, value));
  return models;
}

function amount(name: string, value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return value === undefined || value === null ? {} : { [name]: value };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}
