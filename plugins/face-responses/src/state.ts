/** What the reply needs of the request. Plain data. */

import type { JsonObject } from "@sluice/contract";

/** The kinds of tools that the client runs, by the item that calls them. */
export type ToolKind = "function" | "custom" | TypedKind;

/** Tools whose calls have an item type of their own. */
export type TypedKind = "tool_search" | "local_shell" | "shell" | "apply_patch";

/** A tool as the client named it, and its name in the reference dialect. */
export interface ToolName {
  /** 1 to 64 letters, digits, hyphens and underscores. */
  readonly flat: string;
  readonly kind: ToolKind;
  readonly name: string;
  readonly namespace?: string;
}

/** The state of one request. */
export interface ResponsesState {
  /** The members of the request with their defaults, as the response object repeats them. */
  readonly echo: JsonObject;
  readonly names: readonly ToolName[];
  /** Whether the client asked for summaries: readable reasoning stands in `summary`. */
  readonly hasSummary: boolean;
  /** Whether the client asked for `reasoning.encrypted_content`. */
  readonly hasEnvelopes: boolean;
  /** Whether the client asked for `message.output_text.logprobs`. */
  readonly hasLogprobs: boolean;
}
