/**
 * The fields of a request as the model takes them, before any translation: what asks for nothing is left out, hints are dropped,
 * numbers brought into range, and a demand that cannot be met is refused. One rule for every provider; see `field-rules.ts`.
 */

import { GatewayError, type JsonDocument, type JsonObject, type JsonValue, type Operation } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { asksNothing, fieldRule, type FieldRule, isToolField, offersTools, takesField } from "./field-rules.ts";
import type { ReplyRules } from "./enforced-reply.ts";
import type { Draft, SettleTerms } from "./field-draft.ts";
import { settleToolUse } from "./settle-tools.ts";

/** A request as its model takes it. */
export interface SettledFields {
  /** The same document where nothing had to change. */
  readonly document: JsonDocument;
  /** Fields whose wish is not honoured, in the order of their dropping. */
  readonly dropped: readonly string[];
  /** What must be seen to in the reply, in the upstream's stead. Absent: nothing. */
  readonly rules?: ReplyRules;
}

const INSTRUCTION: JsonObject = {
  role: "system",
  content: "Answer with one JSON object and nothing else: no words before or after it, and no Markdown fence.",
};

const NOTHING: readonly string[] = Object.freeze([]);

/** Settles the fields of a request. Throws `unsupported_parameter` for demands that cannot be met, naming all of them. */
export function settleFields(document: JsonDocument, terms: SettleTerms): SettledFields {
  const { capabilities, model, operation } = terms;
  const traits = capabilities.traits?.(model);
  const abilities = { parameters: traits?.parameters ?? capabilities.parameters, tools: capabilities.tools };
  const body = document.value;
  if (traits === undefined && isSettled(body, operation, abilities)) return { document, dropped: NOTHING };
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

/** Whether nothing has to be settled for a model without traits: every field is taken, none is empty, none is about tools. */
function isSettled(body: JsonObject, operation: Operation, abilities: Parameters<typeof takesField>[1]): boolean {
  for (const name in body) {
    const rule = fieldRule(operation, name);
    if (rule === undefined) continue;
    if (isNull(rule, body[name] as JsonValue) || isToolField(name) || !takesField(name, abilities)) return false;
  }
  return true;
}

/** What is dropped with a field: itself, and those of its companions that are there. */
export function droppedWith(operation: Operation, name: string, body: JsonObject): readonly string[] {
  const companions = fieldRule(operation, name)?.companions ?? [];
  return [name, ...companions.filter((companion) => body[companion] !== undefined && body[companion] !== null)];
}

/** Whether a value says nothing to any provider. */
function isNull(rule: FieldRule | undefined, value: JsonValue): boolean {
  return rule !== undefined && (value === null || rule.isEmpty?.(value) === true);
}

/** Fields that the model does not take at all. */
function settleUntaken(draft: Draft, body: JsonObject): void {
  const { operation, isDropping, provider } = draft.terms;
  const wanted: string[] = [];
  for (const name in body) {
    const rule = fieldRule(operation, name);
    const value = draft.value(name);
    if (rule === undefined || value === undefined || draft.takes(name)) continue;
    if (asksNothing(rule, value)) draft.remove(name);
    else if (rule.otherwise === "hint" || isDropping) {
      for (const each of droppedWith(operation, name, body)) {
        if (draft.value(each) !== undefined) draft.list(each);
        draft.remove(each);
      }
    } else wanted.push(name);
  }
  if (wanted.length > 0) throw unsupported(provider, wanted);
}

/** JSON mode for a model that has none: an instruction, and the reply is looked at. */
function settleJsonMode(draft: Draft): boolean {
  const format = draft.value("response_format");
  const messages = draft.value("messages");
  if (!isObject(format) || format.type !== "json_object" || !Array.isArray(messages)) return false;
  draft.remove("response_format");
  draft.list("response_format");
  draft.set("messages", [...(messages as readonly JsonValue[]), INSTRUCTION]);
  return true;
}

/** 1 is what both are where nothing is said. */
function settleSampling(draft: Draft): void {
  if (typeof draft.value("temperature") !== "number" || typeof draft.value("top_p") !== "number") return;
  const neutral = ["top_p", "temperature"].find((name) => draft.value(name) === 1);
  if (neutral !== undefined) draft.remove(neutral);
}

function settleStops(draft: Draft): void {
  const stop = draft.value("stop");
  const texts: readonly JsonValue[] =
    typeof stop === "string" ? [stop] : Array.isArray(stop) ? (stop as readonly JsonValue[]) : [];
  const kept = texts.filter((text) => typeof text !== "string" || text.trim() !== "");
  if (kept.length === texts.length) return;
  // An empty text stops nothing; white space might have.
  if (texts.some((text) => typeof text === "string" && text !== "" && text.trim() === "")) draft.list("stop");
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
    `The provider ${provider} cannot honour the ${noun} ${names.join(", ")}. Leave out what it cannot, or send drop_params: true.`,
    { param: names[0] ?? "" },
  );
}
