/** Tools and their choice. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { invalidField } from "@sluice/kit/dialect";
import {
  array,
  boolean,
  isSet,
  marker,
  name,
  type Notes,
  object,
  string,
  unknownMembers,
} from "./fields.ts";

/** Members that only steer how the API loads and calls a tool. */
const HINTS = ["input_examples", "defer_loading", "eager_input_streaming", "allowed_callers"];
const KNOWN = ["type", "name", "description", "input_schema", "strict", "cache_control", ...HINTS];

/** `tools`, `tool_choice` and `parallel_tool_calls`. */
export function readTools(value: JsonObject, notes: Notes): JsonObject {
  const tools = isSet(value.tools)
    ? array(value.tools, "tools").map((tool, index) => readTool(tool, `tools[${index}]`, notes))
    : [];
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...readChoice(value.tool_choice),
  };
}

function readTool(value: JsonValue, path: string, notes: Notes): JsonObject {
  const tool = object(value, path);
  const type = isSet(tool.type) ? string(tool.type, `${path}.type`) : "custom";
  if (type !== "custom") {
    notes.native(path, `a tool of type ${type.slice(0, 64)}`);
    return tool;
  }
  const unknown = unknownMembers(tool, KNOWN);
  for (const each of unknown)
    notes.native(`${path}.${each}`, `the member ${each.slice(0, 64)} of a tool`);
  for (const each of HINTS) if (isSet(tool[each])) notes.drop(`${path}.${each}`);
  const { description, strict } = tool;
  const isStrict = boolean(strict, `${path}.strict`);
  return {
    type: "function",
    function: {
      name: name(tool.name, `${path}.name`),
      ...(isSet(description) ? { description: string(description, `${path}.description`) } : {}),
      parameters: object(tool.input_schema, `${path}.input_schema`),
      ...(isStrict === undefined ? {} : { strict: isStrict }),
    },
    ...marker(tool, path),
    ...Object.fromEntries(unknown.map((each) => [each, tool[each]])),
  };
}

function readChoice(value: JsonValue | undefined): JsonObject {
  if (!isSet(value)) return {};
  const choice = object(value, "tool_choice");
  const isSerial =
    boolean(choice.disable_parallel_tool_use, "tool_choice.disable_parallel_tool_use") === true;
  return { tool_choice: modeOf(choice), ...(isSerial ? { parallel_tool_calls: false } : {}) };
}

function modeOf(choice: JsonObject): JsonValue {
  switch (choice.type) {
    case "auto":
    case "none":
      return choice.type;
    case "any":
      return "required";
    case "tool":
      return { type: "function", function: { name: name(choice.name, "tool_choice.name") } };
    default:
      throw invalidField("tool_choice.type", "auto, any, tool or none");
  }
}
