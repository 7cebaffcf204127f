/** The use of tools as a model takes it that has no choice among them, or no word against several calls at once. */

import type { JsonValue } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { objectsOf } from "./reply.ts";
import type { Draft } from "./field-draft.ts";

/** Settles the fields about tools. Returns whether the reply must be cut to its first call. */
export function settleToolUse(draft: Draft, offersTools: boolean): boolean {
  if (!offersTools) {
    settleNothingOffered(draft);
    return false;
  }
  if (!draft.takes("tools") || !draft.takes("tool_choice")) settleChoice(draft);
  if (!draft.takes("functions") || !draft.takes("function_call")) settleLegacyChoice(draft);
  return settleSerialCalls(draft);
}

/** Without tools, what is said of their use says nothing; several APIs refuse it. A demand to call one stays. */
function settleNothingOffered(draft: Draft): void {
  for (const name of ["tool_choice", "function_call"]) {
    const choice = draft.value(name);
    if (choice === "auto" || choice === "none") draft.remove(name);
  }
  draft.remove("parallel_tool_calls");
}

function settleChoice(draft: Draft): void {
  const choice = draft.value("tool_choice");
  if (choice === undefined) return;
  // No tool may be called: then none is offered.
  if (choice === "none") draft.remove("tools", "tool_choice", "parallel_tool_calls");
  const names = choice === "none" || !draft.takes("tools") ? undefined : namesOf(choice);
  if (names === undefined) return;
  const tools = objectsOf(draft.value("tools")).filter((tool) => names.isOf(tool.function));
  if (tools.length === 0) return;
  draft.set("tools", tools);
  draft.remove("tool_choice");
  // The tool is all that is offered; whether it is called, the model decides.
  if (names.isForced) draft.list("tool_choice");
}

function settleLegacyChoice(draft: Draft): void {
  if (draft.value("function_call") === "none") draft.remove("functions", "function_call");
}

interface ChosenTools {
  readonly isForced: boolean;
  isOf(definition: JsonValue | undefined): boolean;
}

/** The tools that a choice leaves; `undefined` for a choice of another kind, and for one that demands a call among several. */
function namesOf(choice: JsonValue): ChosenTools | undefined {
  if (!isObject(choice)) return undefined;
  const named = isObject(choice.function) ? choice.function.name : choice.name;
  if (typeof named === "string") return chosen([named], true);
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  if (choice.type !== "allowed_tools" || allowed.mode === "required") return undefined;
  return chosen(
    objectsOf(allowed.tools).map((tool) => String(isObject(tool.function) ? tool.function.name : tool.name)),
    false,
  );
}

function chosen(names: readonly string[], isForced: boolean): ChosenTools {
  return { isForced, isOf: (definition) => isObject(definition) && names.includes(String(definition.name)) };
}

/** One call at a time, for a model that cannot be told so: the reply is cut to its first. It is listed where that may lose a call. */
function settleSerialCalls(draft: Draft): boolean {
  if (draft.value("parallel_tool_calls") !== false || draft.takes("parallel_tool_calls") || !draft.takes("tools")) return false;
  const tools = draft.value("tools");
  draft.remove("parallel_tool_calls");
  if (tools === undefined) return false;
  if (Array.isArray(tools) && tools.length > 1) draft.list("parallel_tool_calls");
  return true;
}
