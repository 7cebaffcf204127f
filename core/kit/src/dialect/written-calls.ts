/** The tool calls of one stream: the index of each, and the deltas that write it. */

import { GatewayError } from "@sluice/contract";
import { extraContent, type ReplyCall } from "./reply.ts";

/** A call before its arguments. */
export type BegunCall = Pick<ReplyCall, "id" | "name" | "extra">;

interface WrittenCall {
  readonly index: number;
  hasArguments: boolean;
}

/** Calls by the provider's identifier. Deltas are JSON text. */
export class WrittenCalls {
  readonly #byKey = new Map<string | number, WrittenCall>();

  /** The delta of a new call. */
  begin(key: string | number, { id, name, extra }: BegunCall): string {
    const index = this.#byKey.size;
    this.#byKey.set(key, { index, hasArguments: false });
    const call = {
      index,
      id,
      type: "function",
      function: { name, arguments: "" },
      ...extraContent(extra),
    };
    return `{"tool_calls":[${JSON.stringify(call)}]}`;
  }

  /** The delta of a part of a call's arguments. */
  argumentsOf(key: string | number, piece: string): string {
    const call = this.#of(key);
    call.hasArguments = true;
    return `{"tool_calls":[{"index":${call.index},"function":{"arguments":${JSON.stringify(piece)}}}]}`;
  }

  /** Whether a part of a call's arguments was written. */
  hasArguments(key: string | number): boolean {
    return this.#of(key).hasArguments;
  }

  #of(key: string | number): WrittenCall {
    const call = this.#byKey.get(key);
    if (call === undefined) throw neverBegun();
    return call;
  }
}

/** The error of a stream that continues an unknown call. */
export function neverBegun(): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    "The upstream's stream continues a call that it never began.",
  );
}
