/**
 * Names of functions: the API takes dots and colons in them, the reference dialect letters, digits,
 * hyphens and underscores.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members, ToolNames } from "@sluice/kit/dialect";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const RULE: ToolNames.NameRule = { character: /[A-Za-z0-9_-]/, maxLength: 64 };

/** The client's names by those of the request. Absent: no name was changed. */
export type ClientNames = Readonly<Record<string, string>>;

/** A body whose names the reference dialect takes, and the way back. */
export function withNames(body: JsonObject): {
  readonly body: JsonObject;
  readonly names?: ClientNames;
} {
  const all = namesIn(body);
  if (all.every((name) => NAME.test(name))) return { body };
  const map = ToolNames.map({ document: { value: body } }, RULE);
  const rename = (value: JsonValue): JsonValue => {
    if (!isObject(value) || !isObject(value.function)) return value;
    const { name } = value.function;
    const renamed = typeof name === "string" ? { name: map.toUpstream(name) } : {};
    return { ...value, function: { ...value.function, ...renamed } };
  };
  const renameAll = (list: JsonValue | undefined): JsonValue | undefined =>
    Array.isArray(list) ? list.map(rename) : list;
  const messages = Members.objectsOf(body.messages).map((message) =>
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
    body: Members.present({ ...body, messages, tools, tool_choice: choice(body, rename) }),
    names: Object.fromEntries(changed),
  };
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
  const calls = Members.objectsOf(messages).flatMap((each) => Members.objectsOf(each.tool_calls));
  const named = [...Members.objectsOf(tools), ...calls].flatMap(({ function: made }) =>
    isObject(made) && typeof made.name === "string" ? [made.name] : [],
  );
  return [...new Set(named)];
}
