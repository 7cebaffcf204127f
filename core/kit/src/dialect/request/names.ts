/** Maps names and ids to the charset that a provider allows, and back. */

import { createHash } from "node:crypto";
import type { JsonValue, ProviderRequest } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { objectsOf } from "../reply.ts";

/** The charset and lengths that a provider allows. */
export interface NameRule {
  /** Matches one allowed character: `/[a-zA-Z0-9_-]/`. */
  readonly character: RegExp;
  readonly maxLength: number;
  /** Matches an allowed first character, where fewer are allowed. */
  readonly first?: RegExp;
}

/**
 * A map of names in both directions. The same request gives the same map, so the translator of its
 * reply can rebuild it.
 */
export interface NameMap {
  /** The provider's name for a client's name. */
  toUpstream(name: string): string;
  /** The client's name for a provider's name. An unmapped name stays. */
  toClient(name: string): string;
}

const HASH_CHARACTERS = 8;

/**
 * Maps names. An allowed name stays. Another name keeps its allowed characters and gets a hash of
 * the whole name, so that names which differ only in other characters stay different. Allowed names
 * are settled first: no name is mapped onto one of them.
 */
export function mapNames(names: Iterable<string>, rule: NameRule): NameMap {
  const all = [...new Set(names)];
  const forward = new Map<string, string>();
  const back = new Map<string, string>();
  const settle = (name: string, to: string): void => {
    forward.set(name, to);
    back.set(to, name);
  };
  for (const name of all) if (isAllowed(name, rule)) settle(name, name);
  for (const name of all.filter((each) => !forward.has(each))) {
    let salt = 0;
    let to = mangled(name, rule, salt);
    while (back.has(to)) to = mangled(name, rule, ++salt);
    settle(name, to);
  }
  return {
    toUpstream: (name) =>
      forward.get(name) ?? (isAllowed(name, rule) ? name : mangled(name, rule, 0)),
    toClient: (name) => back.get(name) ?? name,
  };
}

/**
 * The map of a request's tools: the offered and the called ones. It reads only names from the
 * client's body, so the translator of the reply can rebuild it.
 */
export function mapToolNames(
  { document }: { readonly document: Pick<ProviderRequest["document"], "value"> },
  rule: NameRule,
): NameMap {
  const { tools, functions, messages } = document.value;
  const names: string[] = [];
  const add = (named: JsonValue | undefined): void => {
    if (isObject(named) && typeof named.name === "string" && named.name !== "")
      names.push(named.name);
  };
  for (const tool of objectsOf(tools)) add(tool.function);
  for (const named of objectsOf(functions)) add(named);
  for (const message of Array.isArray(messages) ? (messages as readonly JsonValue[]) : []) {
    if (!isObject(message)) continue;
    // Most messages have no calls.
    if (message.tool_calls !== undefined)
      for (const call of objectsOf(message.tool_calls)) add(call.function);
    add(message.function_call);
  }
  return mapNames(names, rule);
}

/**
 * A call's id in the provider's charset. Ids are not mapped back: the client gets the provider's
 * ids unchanged.
 */
export function mapId(id: string, rule: NameRule & { readonly exactLength?: boolean }): string {
  const isLong = rule.exactLength === true && id.length !== rule.maxLength;
  if (isAllowed(id, rule) && !isLong) return id;
  return rule.exactLength === true ? digest(id).slice(0, rule.maxLength) : mangled(id, rule, 0);
}

function isAllowed(name: string, { character, maxLength, first }: NameRule): boolean {
  if (
    name === "" ||
    name.length > maxLength ||
    (first !== undefined && !first.test(name.charAt(0)))
  )
    return false;
  return [...name].every((each) => character.test(each));
}

function mangled(name: string, { character, maxLength, first }: NameRule, salt: number): string {
  const hash = digest(`${salt}:${name}`).slice(0, HASH_CHARACTERS);
  const kept = Array.from(name.slice(0, maxLength), (each) =>
    character.test(each) ? each : "_",
  ).join("");
  const start = first === undefined || first.test(kept.charAt(0)) ? kept : `t${kept}`;
  return `${start.slice(0, maxLength - HASH_CHARACTERS - 1)}_${hash}`;
}

/** Letters and digits derived from the text. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
