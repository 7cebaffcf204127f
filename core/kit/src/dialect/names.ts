/** Names and ids that a provider's charset does not allow: mapped to ones that it does, and back. */

import { createHash } from "node:crypto";
import type { ProviderRequest } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { objectsOf } from "./reply.ts";

/** What a provider allows. */
export interface NameRule {
  /** Matches one allowed character: `/[a-zA-Z0-9_-]/`. */
  readonly character: RegExp;
  readonly maxLength: number;
  /** Matches a first character, where it may be fewer. */
  readonly first?: RegExp;
}

/** Names both ways. The same request gives the same map, so a reply's translator makes it again. */
export interface NameMap {
  /** The provider's name of the client's. */
  toUpstream(name: string): string;
  /** The client's name of the provider's; one that was never mapped stays as it is. */
  toClient(name: string): string;
}

const HASH_CHARACTERS = 8;

/**
 * Maps names. An allowed name stays; another one keeps its allowed characters and gets a hash of the whole, so that two names
 * that differ only in what is not allowed stay apart. Allowed names are settled first: nothing is ever mapped onto them.
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
    toUpstream: (name) => forward.get(name) ?? (isAllowed(name, rule) ? name : mangled(name, rule, 0)),
    toClient: (name) => back.get(name) ?? name,
  };
}

/**
 * The map of a request's tools: what is offered and what has been called. It reads names and nothing else of the client's body,
 * so a reply's translator may make it again.
 */
export function mapToolNames({ document }: ProviderRequest, rule: NameRule): NameMap {
  const { tools, functions, messages } = document.value;
  const called = objectsOf(messages).flatMap((message) => [
    ...objectsOf(message.tool_calls).map((call) => call.function),
    message.function_call,
  ]);
  const named = [...objectsOf(tools).map((tool) => tool.function), ...objectsOf(functions), ...called];
  return mapNames(
    named.flatMap((each) => (isObject(each) && typeof each.name === "string" && each.name !== "" ? [each.name] : [])),
    rule,
  );
}

/** An id of a call as a provider allows it. Ids need no way back: what the provider makes is given to the client as it is. */
export function mapId(id: string, rule: NameRule & { readonly exactLength?: boolean }): string {
  const isLong = rule.exactLength === true && id.length !== rule.maxLength;
  if (isAllowed(id, rule) && !isLong) return id;
  return rule.exactLength === true ? digest(id).slice(0, rule.maxLength) : mangled(id, rule, 0);
}

function isAllowed(name: string, { character, maxLength, first }: NameRule): boolean {
  if (name === "" || name.length > maxLength || (first !== undefined && !first.test(name.charAt(0)))) return false;
  return [...name].every((each) => character.test(each));
}

function mangled(name: string, { character, maxLength, first }: NameRule, salt: number): string {
  const hash = digest(`${salt}:${name}`).slice(0, HASH_CHARACTERS);
  const kept = Array.from(name.slice(0, maxLength), (each) => (character.test(each) ? each : "_")).join("");
  const start = first === undefined || first.test(kept.charAt(0)) ? kept : `t${kept}`;
  return `${start.slice(0, maxLength - HASH_CHARACTERS - 1)}_${hash}`;
}

/** Letters and digits that follow from the text. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
