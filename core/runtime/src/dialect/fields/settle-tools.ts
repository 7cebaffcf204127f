/**
 * The use of tools for a model without a choice among tools, or without a parameter against
 * parallel calls.
 */

import type { JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type { Draft } from "./draft.ts";

/** Adapts the fields about tools. Returns whether the reply must be cut to its first call. */
export function settleToolUse(draft: Draft, offersTools: boolean): boolean {
  if (!offersTools) {
    settleNothingOffered(draft);
    return false;
  }
  if (!draft.takes("tools") || !draft.takes("tool_choice")) settleChoice(draft);
  if (!draft.takes("functions") || !draft.takes("function_call")) settleLegacyChoice(draft);
  return settleSerialCalls(draft);
}

/**
 * Without tools, rules for their use have no effect, and several APIs refuse them. A demand for a
 * call stays.
 */
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
  // No tool may be called, so none is offered.
  if (choice === "none") draft.remove("tools", "tool_choice", "parallel_tool_calls");
  const names = choice === "none" || !draft.takes("tools") ? undefined : namesOf(choice);
  if (names === undefined) return;
  const tools = Members.objectsOf(draft.value("tools")).filter((tool) => names.isOf(tool.function));
  if (tools.length === 0) return;
  draft.set("tools", tools);
  draft.remove("tool_choice");
  // Only this tool is offered. The model decides whether to call it.
  if (names.isForced) draft.list("tool_choice");
}

function settleLegacyChoice(draft: Draft): void {
  if (draft.value("function_call") === "none") draft.remove("functions", "function_call");
}

interface ChosenTools {
  readonly isForced: boolean;
  isOf(definition: JsonValue | undefined): boolean;
}

/**
 * The tools that a choice allows; `undefined` for another kind of choice, and for one that demands
 * a call among several.
 */
function namesOf(choice: JsonValue): ChosenTools | undefined {
  if (!isObject(choice)) return undefined;
  const named = isObject(choice.function) ? choice.function.name : choice.name;
  if (typeof named === "string") return chosen([named], true);
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  if (choice.type !== "allowed_tools" || allowed.mode === "required") return undefined;
  return chosen(
    Members.objectsOf(allowed.tools).map((tool) =>
      String(isObject(tool.function) ? tool.function.name : tool.name),
    ),
    false,
  );
}

function chosen(names: readonly string[], isForced: boolean): ChosenTools {
  return {
    isForced,
    isOf: (definition) => isObject(definition) && names.includes(String(definition.name)),
  };
}

/**
 * One call at a time, for a model without such a parameter: the reply is cut to its first call. The
 * field is listed where a call may be lost.
 */
function settleSerialCalls(draft: Draft): boolean {
  if (
    draft.value("parallel_tool_calls") !== false ||
    draft.takes("parallel_tool_calls") ||
    !draft.takes("tools")
  )
    return false;
  const tools = draft.value("tools");
  draft.remove("parallel_tool_calls");
  if (tools === undefined) return false;
  if (Array.isArray(tools) && tools.length > 1) draft.list("parallel_tool_calls");
  return true;
}
