/** The options of a guarded stream. */

import type { Frame, JsonObject, TextContext } from "@sluice/contract";
import type { GuardrailSet } from "../guardrail-set.ts";
import type { StreamDialect } from "./dialect.ts";

/** The mode of a check of a stream. */
export type StreamMode = "hold" | "window" | "observe";

/** The context of every text of a stream; the channel adds part and place. */
export type StreamContext = Omit<TextContext, "part" | "place" | "isPartial" | "offset">;

/** Options of a guarded stream. */
export interface GuardedStreamOptions {
  readonly dialect: StreamDialect;
  /** The guardrails that may change the reply. */
  readonly set: GuardrailSet;
  /** The guardrails that check the text after the stream has ended, and are only reported. */
  readonly observers: GuardrailSet;
  readonly mode: "hold" | "window";
  /** Maximum characters of one text that may wait. */
  readonly maxHeld: number;
  /** Characters of one text that may wait for `decide` after a check. Default 0. */
  readonly batch?: number;
  readonly context: StreamContext;
  /** Makes a frame of a changed event. */
  readonly frameOf: (changed: JsonObject, original: Frame) => Frame;
}
