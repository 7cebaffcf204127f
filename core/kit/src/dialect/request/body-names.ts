/**
 * Names of functions in the request of a face: its API may take more characters or longer names
 * than the reference dialect, which takes 64 letters, digits, hyphens and underscores.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { present } from "../members.ts";
import { objectsOf } from "../reply.ts";
import { mapToolNames, type NameRule } from "./names.ts";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const RULE: NameRule = { character: /[A-Za-z0-9_-]/, maxLength: 64 };

/** The client's names by those of the request. Absent: no name was changed. */
export type ClientNames = Readonly<Record<string, string>>;

/** A body whose names the reference dialect takes, and the way back. */
export function mapBodyNames(body: JsonObject): {
  readonly body: JsonObject;
  readonly names?: ClientNames;
} {
  const all = namesIn(body);
  if (all.every((name) => NAME.test(name))) return { body };
  const map = mapToolNames({ document: { value: body } }, RULE);
  const rename = (value: JsonValue): JsonValue => {
    if (!isObject(value) || !isObject(value.function)) return value;
    const { name } = value.function;
    const renamed = typeof name === "string" ? { name: map.toUpstream(name) } : {};
    return { ...value, function: { ...value.function, ...renamed } };
  };
  const renameAll = (list: JsonValue | undefined): JsonValue | undefined =>
    Array.isArray(list) ? list.map(rename) : list;
  const messages = objectsOf(body.messages).map((message) =>
    message.tool_calls === undefined
      ? message
      : { ...message, tool_calls: renameAll(message.tool_calls) },
  );
  const changed = all.flatMap((name): [string, string][] => {
    const to = map.toUpstream(name);
    return to === name ? [] : [[to, name]];
  });
  const tools = renameAll(body.tools);
  return {
    body: present({ ...body, messages, tools, tool_choice: choice(body, rename) }),
    names: Object.fromEntries(changed),
  };
}

/** The client's name for a name of the request. */
export function clientName(name: string, names: ClientNames | undefined): string {
  return names !== undefined && Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}

function choice(
  { tool_choice: given }: JsonObject,
  rename: (value: JsonValue) => JsonValue,
): JsonValue | undefined {
  if (!isObject(given) || !isObject(given.allowed_tools)) return given && rename(given);
  const { tools } = given.allowed_tools;
  const renamed = Array.isArray(tools) ? tools.map(rename) : tools;
  return { ...given, allowed_tools: { ...given.allowed_tools, tools: renamed } };
}

function namesIn({ tools, messages }: JsonObject): readonly string[] {
  const calls = objectsOf(messages).flatMap((each) => objectsOf(each.tool_calls));
  const named = [...objectsOf(tools), ...calls].flatMap(({ function: made }) =>
    isObject(made) && typeof made.name === "string" ? [made.name] : [],
  );
  return [...new Set(named)];
}
