/** `tool_choice` in the reference dialect. */

import { isObject } from "@sluice/kit";
import { invalidField } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { isTyped } from "../typed-tools.ts";
import type { Notes } from "./notes.ts";
import { refused, shown } from "./refusals.ts";
import type { ToolTable } from "./tools.ts";

const MODES = new Set(["auto", "none", "required"]);

/** The choice; `undefined` where the client sent none. Throws for a tool that is not offered. */
export function toolChoice(
  choice: JsonValue | undefined,
  tools: ToolTable,
  notes: Notes,
): string | JsonObject | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === "string" && MODES.has(choice)) return choice;
  if (!isObject(choice)) throw invalidField("tool_choice", "auto, none, required or an object");
  if (choice.type !== "allowed_tools") {
    const [name] = chosen(choice, "tool_choice", tools, notes);
    return name === undefined ? choice : { type: "function", function: { name } };
  }
  if (!Array.isArray(choice.tools)) throw invalidField("tool_choice.tools", "an array");
  const names = (choice.tools as readonly JsonValue[]).flatMap((each, index) => {
    const path = `tool_choice.tools[${index}]`;
    if (!isObject(each)) throw invalidField(path, "an object");
    return chosen(each, path, tools, notes);
  });
  return {
    type: "allowed_tools",
    allowed_tools: {
      mode: choice.mode === "required" ? "required" : "auto",
      tools: names.map((name) => ({ type: "function", function: { name } })),
    },
  };
}

/** The functions that one chosen tool stands for; none for a tool that a server runs. */
function chosen(tool: JsonObject, path: string, tools: ToolTable, notes: Notes): readonly string[] {
  const { type, name, namespace } = tool;
  if (type === "namespace" && typeof name === "string") {
    const flats = tools.flatsOf(name);
    if (flats.length === 0) throw notOffered(path, name);
    return flats;
  }
  if (typeof type === "string" && isTyped(type)) {
    if (!tools.has(type, type)) throw notOffered(path, type);
    return [tools.flat(type, type)];
  }
  if (type !== "function" && type !== "custom") {
    notes.native(path, `the choice of a tool of type ${shown(type)}`);
    return [];
  }
  if (typeof name !== "string" || name === "")
    throw invalidField(`${path}.name`, "the name of a tool");
  const space = typeof namespace === "string" ? namespace : undefined;
  if (!tools.has(type, name, space)) throw notOffered(path, name);
  return [tools.flat(type, name, space)];
}

function notOffered(path: string, name: string): Error {
  return refused(
    path,
    `${path} names the tool ${name.slice(0, 64)}, which tools does not offer. Add the tool, or choose another.`,
  );
}
