/** Stop reasons: a table of a provider's words, and the reference dialect's five. */

/** Why a choice ended, in the reference dialect. `function_call` is legacy and never made here. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** A provider's words and what they mean. */
export type FinishTable = Readonly<Record<string, FinishReason>>;

/**
 * The finish reason of a provider's word. A word that the table does not have means `stop`; calls mean `tool_calls`, whatever
 * the provider says, unless the reply was cut short. The provider's word stays readable as `native_finish_reason`.
 */
export function finishReason(native: string | undefined, table: FinishTable, hasCalls: boolean): FinishReason {
  const reason = (native !== undefined && Object.hasOwn(table, native) ? table[native] : undefined) ?? "stop";
  return hasCalls && reason === "stop" ? "tool_calls" : reason;
}
