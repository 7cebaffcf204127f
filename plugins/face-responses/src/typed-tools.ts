/**
 * Tools whose calls have an item type of their own and that the client runs. The reference dialect
 * has functions of the same names instead. Shapes: `ToolSearchTool`, `FunctionShellTool`,
 * `ResponseApplyPatchToolCall`, `LocalShellCall` of openai-node.
 */

import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";
import type { TypedKind } from "./state.ts";

/** A tool with an item type of its own. */
export interface TypedTool {
  readonly description: string;
  readonly parameters: JsonObject;
  /** The item's type, and that of its output. */
  readonly call: string;
  readonly output: string;
  readonly idPrefix: string;
  /** The arguments of a call item. */
  read(item: JsonObject): JsonValue | undefined;
  /** The members of a call item, of its arguments; `undefined` for arguments that do not fit. */
  write(given: JsonObject): JsonObject | undefined;
}

const text = (description: string): JsonObject => ({ type: "string", description });
const texts = (description: string): JsonObject => ({
  type: "array",
  items: { type: "string" },
  description,
});
const object = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  required,
});

function isTexts(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.every((each: JsonValue) => typeof each === "string");
}

function count(value: JsonValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}

export const TYPED_TOOLS: Readonly<Record<TypedKind, TypedTool>> = {
  tool_search: {
    description: "Searches for tools that are not loaded yet.",
    parameters: object({ query: text("What the tool has to do.") }, ["query"]),
    call: "tool_search_call",
    output: "tool_search_output",
    idPrefix: "tsc",
    read: (item) => item.arguments,
    write: (given) => ({ execution: "client", arguments: given }),
  },
  local_shell: {
    description: "Runs a command on the user's computer and returns its output.",
    parameters: object(
      {
        command: texts("The program and its arguments."),
        working_directory: text("The folder to run it in."),
        timeout_ms: { type: "integer", description: "The time limit in milliseconds." },
      },
      ["command"],
    ),
    call: "local_shell_call",
    output: "local_shell_call_output",
    idPrefix: "lsh",
    read: (item) => without(item.action, ["type"]),
    write: (given) =>
      isTexts(given.command) ? { action: { env: {}, ...given, type: "exec" } } : undefined,
  },
  shell: {
    description: "Runs shell commands on the user's computer and returns their output.",
    parameters: object(
      {
        commands: texts("The shell commands, each run by itself."),
        timeout_ms: { type: "integer", description: "The time limit in milliseconds." },
        max_output_length: { type: "integer", description: "The maximum characters of output." },
      },
      ["commands"],
    ),
    call: "shell_call",
    output: "shell_call_output",
    idPrefix: "sh",
    read: (item) => item.action,
    write: ({ commands, timeout_ms: timeout, max_output_length: length }) =>
      isTexts(commands)
        ? {
            action: {
              commands: commands as readonly string[],
              timeout_ms: count(timeout),
              max_output_length: count(length),
            },
            environment: { type: "local" },
          }
        : undefined,
  },
  apply_patch: {
    description: "Creates, changes or deletes one file.",
    parameters: object(
      {
        type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
        path: text("The path of the file."),
        diff: text("The change as a V4A diff. Not for delete_file."),
      },
      ["type", "path"],
    ),
    call: "apply_patch_call",
    output: "apply_patch_call_output",
    idPrefix: "apc",
    read: (item) => item.operation,
    write: ({ type, path, diff }) => {
      if (typeof path !== "string") return undefined;
      if (type === "delete_file") return { operation: { type, path } };
      return (type === "create_file" || type === "update_file") && typeof diff === "string"
        ? { operation: { type, path, diff } }
        : undefined;
    },
  },
};

const KINDS = Object.keys(TYPED_TOOLS) as TypedKind[];

/** Kinds by the type of the call item. */
export const TYPED_CALLS: Readonly<Record<string, TypedKind>> = Members.table(
  Object.fromEntries(KINDS.map((kind) => [TYPED_TOOLS[kind].call, kind])),
);

/** The types of their outputs. */
export const TYPED_OUTPUTS: ReadonlySet<string> = new Set(
  KINDS.map((kind) => TYPED_TOOLS[kind].output),
);

/** Whether a tool has an item type of its own. */
export function isTyped(kind: string): kind is TypedKind {
  return Object.hasOwn(TYPED_TOOLS, kind);
}

function without(value: JsonValue | undefined, names: readonly string[]): JsonObject {
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter(([name, each]) => !names.includes(name) && each !== null),
      )
    : {};
}
