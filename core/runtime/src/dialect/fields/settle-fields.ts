/**
 * Adapts the fields of a request to the model, before any translation. Fields without effect are
 * left out, hints dropped, numbers brought into range, and unsupported demands refused. One rule
 * for every provider; see `field-rules.ts`.
 */

import {
  GatewayError,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  type Operation,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import {
  asksNothing,
  fieldRule,
  type FieldRule,
  isToolField,
  offersTools,
  takesField,
} from "@sluice/kit/internals";
import type { ReplyRules } from "../enforced-reply.ts";
import type { Draft, SettleTerms } from "./draft.ts";
import { settleToolUse } from "./settle-tools.ts";

/** A request with adapted fields. */
export interface SettledFields {
  /** The same document without changes. */
  readonly document: JsonDocument;
  /** Fields that are not honoured, in the order of their removal. */
  readonly dropped: readonly string[];
  /** Rules that the gateway enforces on the reply. Absent: none. */
  readonly rules?: ReplyRules;
}

const INSTRUCTION: JsonObject = {
  role: "system",
  content:
    "Answer with one JSON object and nothing else: no words before or after it, and no Markdown fence.",
};

const NOTHING: readonly string[] = Object.freeze([]);

/**
 * Adapts the fields of a request. Throws `unsupported_parameter` for unsupported demands, and names
 * all of them.
 */
export function settleFields(document: JsonDocument, terms: SettleTerms): SettledFields {
  const { capabilities, model, operation } = terms;
  const traits = capabilities.traits?.(model);
  const body = document.value;
  if (traits === undefined && isSettled(body, operation, capabilities.parameters))
    return { document, dropped: NOTHING };
  const abilities = {
    parameters: traits?.parameters ?? capabilities.parameters,
    tools: capabilities.tools,
  };
  const changes: Record<string, JsonValue | undefined> = {};
  const dropped = new Set<string>();
  const draft: Draft = {
    terms,
    value: (name) => (Object.hasOwn(changes, name) ? changes[name] : body[name]),
    set: (name, value) => {
      changes[name] = value;
    },
    remove: (...names) => {
      for (const name of names) if (body[name] !== undefined) changes[name] = undefined;
    },
    list: (name) => dropped.add(name),
    takes: (name) => takesField(name, abilities),
  };
  for (const name in body) {
    const value = body[name] as JsonValue;
    if (isNull(fieldRule(operation, name), value)) draft.remove(name);
  }
  const rules: { firstCallOnly?: true; jsonObject?: true } = {};
  if (operation === "chat") {
    if (settleToolUse(draft, offersTools(body))) rules.firstCallOnly = true;
    if (traits?.hasNoJsonMode === true && settleJsonMode(draft)) rules.jsonObject = true;
    if (traits?.takesOneSampling === true) settleSampling(draft);
    if (traits?.refusesBlankStops === true) settleStops(draft);
  }
  for (const [name, range] of Object.entries(traits?.ranges ?? {})) clamp(draft, name, range);
  settleUntaken(draft, body);
  return {
    document: Object.keys(changes).length === 0 ? document : document.with(changes),
    dropped: [...dropped],
    ...(rules.firstCallOnly === undefined && rules.jsonObject === undefined ? {} : { rules }),
  };
}

/**
 * Whether nothing needs adaptation for a model without traits: every field is supported, none is
 * empty, none is about tools.
 */
function isSettled(
  body: JsonObject,
  operation: Operation,
  parameters: readonly string[] | undefined,
): boolean {
  for (const name of Object.keys(body)) {
    const rule = fieldRule(operation, name);
    if (rule === undefined) continue;
    if (isNull(rule, body[name] as JsonValue) || isToolField(name)) return false;
    if (parameters !== undefined && !parameters.includes(name)) return false;
  }
  return true;
}

/** The field and its companions that are present. */
export function droppedWith(
  operation: Operation,
  name: string,
  body: JsonObject,
): readonly string[] {
  const companions = fieldRule(operation, name)?.companions ?? [];
  return [
    name,
    ...companions.filter((companion) => body[companion] !== undefined && body[companion] !== null),
  ];
}

/** Whether a value has no effect at any provider. */
function isNull(rule: FieldRule | undefined, value: JsonValue): boolean {
  return rule !== undefined && (value === null || rule.isEmpty?.(value) === true);
}

/** Removes fields that the model does not support at all. */
function settleUntaken(draft: Draft, body: JsonObject): void {
  const { operation, isDropping, provider, hints } = draft.terms;
  const wanted: string[] = [];
  for (const name in body) {
    const rule = fieldRule(operation, name);
    const value = draft.value(name);
    if (rule === undefined || value === undefined || draft.takes(name)) continue;
    if (asksNothing(rule, value)) draft.remove(name);
    else if (rule.otherwise === "hint" || isDropping || hints?.includes(name) === true) {
      for (const each of droppedWith(operation, name, body)) {
        if (draft.value(each) !== undefined) draft.list(each);
        draft.remove(each);
      }
    } else wanted.push(name);
  }
  if (wanted.length > 0) throw unsupported(provider, wanted);
}

/** JSON mode for a model without it: an instruction, and a check of the reply. */
function settleJsonMode(draft: Draft): boolean {
  const format = draft.value("response_format");
  const messages = draft.value("messages");
  if (!isObject(format) || format.type !== "json_object" || !Array.isArray(messages)) return false;
  draft.remove("response_format");
  draft.list("response_format");
  draft.set("messages", [...(messages as readonly JsonValue[]), INSTRUCTION]);
  return true;
}

/** The default of both is 1. */
function settleSampling(draft: Draft): void {
  if (typeof draft.value("temperature") !== "number" || typeof draft.value("top_p") !== "number")
    return;
  const neutral = ["top_p", "temperature"].find((name) => draft.value(name) === 1);
  if (neutral !== undefined) draft.remove(neutral);
}

function settleStops(draft: Draft): void {
  const stop = draft.value("stop");
  const texts: readonly JsonValue[] =
    typeof stop === "string" ? [stop] : Array.isArray(stop) ? (stop as readonly JsonValue[]) : [];
  const kept = texts.filter((text) => typeof text !== "string" || text.trim() !== "");
  if (kept.length === texts.length) return;
  // An empty stop text has no effect; white space may have one.
  if (texts.some((text) => typeof text === "string" && text !== "" && text.trim() === ""))
    draft.list("stop");
  if (kept.length === 0) draft.remove("stop");
  else draft.set("stop", kept);
}

function clamp(draft: Draft, name: string, [least, greatest]: readonly [number, number]): void {
  const value = draft.value(name);
  if (typeof value !== "number" || (value >= least && value <= greatest)) return;
  draft.set(name, Math.min(greatest, Math.max(least, value)));
  draft.list(name);
}

function unsupported(provider: string, names: readonly string[]): GatewayError {
  const noun = names.length === 1 ? "parameter" : "parameters";
  return new GatewayError(
    "unsupported_parameter",
    `The provider ${provider} does not support the ${noun} ${names.join(", ")}. Remove it, or send drop_params: true.`,
    { param: names[0] ?? "" },
  );
}
