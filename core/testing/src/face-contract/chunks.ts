/** Chunks of the reference dialect: in short for cases, in other groups, and as a completion. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { REPLY_MODEL } from "../contract/subject.ts";

const BASE: JsonObject = {
  id: "chatcmpl-contract",
  object: "chat.completion.chunk",
  created: 1_767_225_600,
  model: REPLY_MODEL,
};
/** Texts that arrive in pieces. */
const TEXTS = ["reasoning_content", "content", "refusal"];
/** The order in which one chunk says several things. */
const ORDER = ["role", "reasoning_content", "thinking_blocks", "content", "refusal"];
const LAST = ["tool_calls", "finish"];

/**
 * A chunk of a case, which may be in short: with `choices`, with the members of one choice
 * (`delta`, `finish_reason`, …), or with `usage` alone.
 */
export function chunkOf(given: JsonValue): JsonObject {
  if (!isObject(given)) return BASE;
  if (Array.isArray(given.choices)) return { ...BASE, ...given };
  const { usage, service_tier: tier, ...choice } = given;
  const hasChoice = Object.keys(choice).length > 0;
  return {
    ...BASE,
    choices: hasChoice ? [{ index: 0, delta: {}, finish_reason: null, ...choice }] : [],
    ...(usage === undefined ? {} : { usage }),
    ...(tier === undefined ? {} : { service_tier: tier }),
  };
}

/** The smallest thing that a chunk can say. */
type Atom =
  | { readonly kind: "rest"; readonly chunk: JsonObject }
  | { readonly kind: string; readonly index: JsonValue; readonly value: JsonValue };

const LISTS = new Set(["thinking_blocks", "citations", "provider_blocks", "annotations"]);

/** Chunks as their smallest things, texts divided by `cut`. */
function atomsOf(chunks: readonly JsonObject[], cut: (text: string) => string[]): Atom[] {
  return chunks.flatMap((chunk): Atom[] => {
    const { choices, ...rest } = chunk;
    const list = Array.isArray(choices) ? (choices as readonly JsonObject[]) : [];
    const said = list.flatMap((choice) => choiceAtoms(choice, cut));
    const { usage, service_tier: tier } = rest;
    const isRest = list.length === 0 || (usage ?? tier ?? null) !== null;
    return isRest ? [...said, { kind: "rest", chunk: { ...rest, choices: [] } }] : said;
  });
}

function choiceAtoms(
  { index = 0, delta, finish_reason: finish, ...more }: JsonObject,
  cut: (text: string) => string[],
): Atom[] {
  const members = Object.entries(isObject(delta) ? delta : {});
  members.sort(([a], [b]) => rankOf(a) - rankOf(b));
  const atoms = members.flatMap(([kind, value]): Atom[] => {
    if (value === undefined) return [];
    if (TEXTS.includes(kind) && typeof value === "string")
      return value === "" ? [] : cut(value).map((piece) => ({ kind, index, value: piece }));
    if (!Array.isArray(value)) return [{ kind, index, value }];
    const items = value as readonly JsonValue[];
    if (kind === "tool_calls") return items.flatMap((call) => callAtoms(call, index, cut));
    return LISTS.has(kind)
      ? items.map((item) => ({ kind, index, value: [item] }))
      : [{ kind, index, value }];
  });
  if (finish === undefined || finish === null) return atoms;
  return [...atoms, { kind: "finish", index, value: { finish_reason: finish, ...more } }];
}

function callAtoms(call: JsonValue, index: JsonValue, cut: (text: string) => string[]): Atom[] {
  if (!isObject(call) || !isObject(call.function)) return [];
  const { arguments: text, ...named } = call.function;
  const pieces = typeof text === "string" && text !== "" ? cut(text) : [];
  const isStart = call.id !== undefined || named.name !== undefined;
  return [
    ...(isStart ? [{ ...call, function: { ...named, arguments: "" } }] : []),
    ...pieces.map((piece) => ({ index: call.index ?? 0, function: { arguments: piece } })),
  ].map((value) => ({ kind: "tool_calls", index, value: [value] as JsonValue }));
}

function rankOf(kind: string): number {
  const first = ORDER.indexOf(kind);
  if (first >= 0) return first;
  const last = LAST.indexOf(kind);
  return last >= 0 ? ORDER.length + 1 + last : ORDER.length;
}

/** Ways to group the same stream otherwise, by their names. */
export function regroupings(
  chunks: readonly JsonObject[],
): ReadonlyMap<string, readonly JsonObject[]> {
  const whole = atomsOf(chunks, (text) => [text]);
  const halves = atomsOf(chunks, (text) => {
    const letters = [...text];
    const middle = Math.ceil(letters.length / 2);
    const parts = [letters.slice(0, middle), letters.slice(middle)].map((each) => each.join(""));
    return parts.filter((part) => part !== "");
  });
  const letters = atomsOf(chunks, (text) => [...text]);
  const all = new Map<string, readonly JsonObject[]>([
    ["each thing in a chunk of its own", whole.map((atom) => chunkFor([atom]))],
    ["every text in two", halves.map((atom) => chunkFor([atom]))],
    ["every text by its letters", letters.map((atom) => chunkFor([atom]))],
    ["as much as possible in a chunk", merged(letters, () => true)],
  ]);
  for (let at = 1; at < whole.length; at++)
    all.set(
      `the things ${at} and ${at + 1} in one chunk`,
      merged(whole, (next) => next === at),
    );
  return all;
}

/** Chunks of atoms; an atom joins the one before it where the order of one chunk allows it. */
function merged(atoms: readonly Atom[], joins: (at: number) => boolean): JsonObject[] {
  const groups: Atom[][] = [];
  atoms.forEach((atom, at) => {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (last !== undefined && joins(at) && follows(last, atom)) group?.push(atom);
    else groups.push([atom]);
  });
  return groups.map(chunkFor);
}

function follows(last: Atom, next: Atom): boolean {
  if (!("index" in last)) return false;
  if (!("index" in next)) return true;
  return last.index === next.index && rankOf(last.kind) <= rankOf(next.kind);
}

function chunkFor(atoms: readonly Atom[]): JsonObject {
  let chunk: Record<string, JsonValue | undefined> = { ...BASE, choices: [] };
  let delta: Record<string, JsonValue | undefined> = {};
  let choice: JsonObject | undefined;
  for (const atom of atoms) {
    if (!("index" in atom)) {
      chunk = { ...chunk, ...atom.chunk };
      continue;
    }
    choice ??= { index: atom.index, delta: {}, finish_reason: null };
    if (atom.kind === "finish") choice = { ...choice, ...(atom.value as JsonObject) };
    else delta = { ...delta, [atom.kind]: joined(delta[atom.kind], atom.value) };
  }
  return { ...chunk, choices: choice === undefined ? [] : [{ ...choice, delta }] };
}

function joined(first: JsonValue | undefined, second: JsonValue): JsonValue {
  if (typeof first === "string" && typeof second === "string") return first + second;
  if (!Array.isArray(first) || !Array.isArray(second)) return second;
  const [last, next] = [first.at(-1), second[0]] as [JsonValue, JsonValue];
  if (
    isObject(last) &&
    isObject(next) &&
    isObject(last.function) &&
    isObject(next.function) &&
    last.index === next.index &&
    next.id === undefined
  ) {
    const text = `${String(last.function.arguments)}${String(next.function.arguments)}`;
    const call = { ...last, function: { ...last.function, ...next.function, arguments: text } };
    return [...(first as readonly JsonValue[]).slice(0, -1), call];
  }
  return [...(first as readonly JsonValue[]), ...(second as readonly JsonValue[])];
}
