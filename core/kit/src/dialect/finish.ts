/** Stop reasons: the mapping of a provider's names to the reference dialect's five. */

/**
 * The finish reason of a choice in the reference dialect. `function_call` is legacy; the gateway
 * does not produce it.
 */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** A provider's names and their finish reasons. */
export type FinishTable = Readonly<Record<string, FinishReason>>;

/**
 * The finish reason for a provider's name. A name outside the table means `stop`. A reply with
 * calls has `tool_calls`, unless it was cut short. The provider's name stays readable as
 * `native_finish_reason`.
 */
export function finishReason(
  native: string | undefined,
  table: FinishTable,
  hasCalls: boolean,
): FinishReason {
  const reason =
    (native !== undefined && Object.hasOwn(table, native) ? table[native] : undefined) ?? "stop";
  return hasCalls && reason === "stop" ? "tool_calls" : reason;
}
