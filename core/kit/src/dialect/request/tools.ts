/** Tools of a request and the rules of their use. Legacy functions become tools. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { cacheMarker } from "./parts.ts";
import { invalidField, type Refuse } from "../refusal.ts";

/** A function that the model may call. */
export interface ToolDefinition {
  readonly kind: "function";
  /** `tools[0]`; its schema stands at `schemaPath`. */
  readonly path: string;
  readonly schemaPath: string;
  readonly name: string;
  readonly description: string | undefined;
  /** The schema of the arguments; an object schema without properties when the client sent none. */
  readonly schema: JsonObject;
  readonly strict: boolean | undefined;
  readonly cacheControl?: JsonObject;
}

/** A tool of the provider's own, passed on unchanged. */
export interface NativeTool {
  readonly kind: "native";
  readonly path: string;
  readonly value: JsonObject;
}

/** The rule for the use of tools. */
export type ToolChoice =
  | { readonly mode: "auto" | "none" | "required" }
  | { readonly mode: "named"; readonly name: string }
  | { readonly mode: "allowed"; readonly names: readonly string[]; readonly isRequired: boolean };

/** The tools of a request and their rules. */
export interface ToolUse {
  readonly tools: readonly (ToolDefinition | NativeTool)[];
  /** `undefined` when the client sent none, or one without effect in a request without tools. */
  readonly choice: ToolChoice | undefined;
  readonly parallel: boolean | undefined;
}

/** Tools for a dialect without a choice among several tools. */
export interface OfferedTools {
  readonly tools: ToolUse["tools"];
  readonly choice: Exclude<ToolChoice, { readonly mode: "allowed" }> | undefined;
}

/** Tools for a dialect without a choice among several of them: only allowed tools are offered. */
export function offeredTools({ tools, choice }: ToolUse): OfferedTools {
  if (choice?.mode !== "allowed") return { tools, choice };
  const { isRequired } = choice;
  const names = new Set(choice.names);
  const offered = tools.filter((tool) => tool.kind === "native" || names.has(tool.name));
  return { tools: offered, choice: { mode: isRequired ? "required" : "auto" } };
}

const EMPTY_SCHEMA: JsonObject = Object.freeze({ type: "object", properties: {} });
const TOOL_MEMBERS = new Set(["type", "function", "cache_control"]);
const FUNCTION_MEMBERS = new Set(["name", "description", "parameters", "strict", "cache_control"]);

/**
 * Reads tools, their choice and parallel calls. `isNative` identifies the provider's own tools by
 * their type.
 */
export function readToolUse(
  body: JsonObject,
  refuse: Refuse,
  isNative: (type: string) => boolean,
): ToolUse {
  const listed = list(body.tools, "tools").map((tool, index) =>
    readTool(tool, `tools[${index}]`, refuse, isNative),
  );
  const legacy = list(body.functions, "functions").map((tool, index) => {
    const path = `functions[${index}]`;
    return readFunction(tool, path, path, refuse);
  });
  const tools = [...listed, ...legacy];
  const choice = readChoice(body, refuse);
  if (
    tools.length === 0 &&
    choice !== undefined &&
    choice.mode !== "none" &&
    choice.mode !== "auto"
  ) {
    throw invalidField("tool_choice", "absent, auto or none in a request without tools");
  }
  const parallel =
    typeof body.parallel_tool_calls === "boolean" ? body.parallel_tool_calls : undefined;
  return {
    tools,
    choice: tools.length === 0 ? undefined : choice,
    parallel: tools.length === 0 ? undefined : parallel,
  };
}

function readTool(
  tool: JsonValue,
  path: string,
  refuse: Refuse,
  isNative: (type: string) => boolean,
): ToolDefinition | NativeTool {
  if (!isObject(tool)) throw invalidField(path, "an object");
  const { type = "function" } = tool;
  if (type !== "function") {
    return typeof type === "string" && isNative(type)
      ? { kind: "native", path, value: tool }
      : refuse(path, `a tool of type ${String(type).slice(0, 64)}`);
  }
  const unknown = Object.keys(tool).find((name) => !TOOL_MEMBERS.has(name) && tool[name] !== null);
  if (unknown !== undefined) refuse(`${path}.${unknown}`, `the member ${unknown} of a tool`);
  return { ...readFunction(tool.function, path, `${path}.function`, refuse), ...cacheMarker(tool) };
}

function readFunction(
  value: JsonValue | undefined,
  path: string,
  at: string,
  refuse: Refuse,
): ToolDefinition {
  if (!isObject(value)) throw invalidField(at, "an object");
  const unknown = Object.keys(value).find(
    (name) => !FUNCTION_MEMBERS.has(name) && value[name] !== null,
  );
  if (unknown !== undefined) refuse(`${at}.${unknown}`, `the member ${unknown} of a function`);
  const { name, description, parameters, strict } = value;
  if (typeof name !== "string" || name === "")
    throw invalidField(`${at}.name`, "the name of the function");
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw invalidField(`${at}.parameters`, "a JSON schema");
  }
  return {
    kind: "function",
    path,
    schemaPath: `${at}.parameters`,
    name,
    description: typeof description === "string" ? description : undefined,
    schema: isObject(parameters) ? objectSchema(parameters) : EMPTY_SCHEMA,
    strict: typeof strict === "boolean" ? strict : undefined,
    ...cacheMarker(value),
  };
}

/** Arguments are an object: providers require the type, and clients omit it. */
function objectSchema(schema: JsonObject): JsonObject {
  if (schema.type !== undefined) return schema;
  return { type: "object", ...schema };
}

function readChoice(body: JsonObject, refuse: Refuse): ToolChoice | undefined {
  const choice = body.tool_choice ?? body.function_call;
  if (choice === undefined || choice === null) return undefined;
  if (choice === "auto" || choice === "none" || choice === "required") return { mode: choice };
  // Some clients send this for `required`.
  if (choice === "any") return { mode: "required" };
  if (!isObject(choice)) throw invalidField("tool_choice", "auto, none, required or an object");
  if (choice.type === "allowed_tools") return readAllowed(choice, refuse);
  const named = isObject(choice.function) ? choice.function.name : choice.name;
  if (typeof named === "string" && (choice.type === undefined || choice.type === "function")) {
    return { mode: "named", name: named };
  }
  return refuse("tool_choice", `the tool choice ${String(choice.type).slice(0, 64)}`);
}

function readAllowed(choice: JsonObject, refuse: Refuse): ToolChoice {
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  const names = list(allowed.tools, "tool_choice.allowed_tools.tools").map((tool, index) => {
    const name =
      isObject(tool) && isObject(tool.function)
        ? tool.function.name
        : isObject(tool)
          ? tool.name
          : undefined;
    return typeof name === "string"
      ? name
      : refuse(`tool_choice.allowed_tools.tools[${index}]`, "a tool without a name");
  });
  return { mode: "allowed", names, isRequired: allowed.mode === "required" };
}

function list(value: JsonValue | undefined, path: string): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidField(path, "an array");
  return value as readonly JsonValue[];
}
