/** The last frames of a stream, which show whether the stream gave a finish reason. */

import type { Frame, JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";

/**
 * After the finish reason of a choice, a stream has at most the reasons of other choices, and
 * reports.
 */
const MAX_FRAMES = 8;

/** Keeps the last frames. Adding one is an assignment: they are parsed once, at the end. */
export class RecentFrames {
  /** A ring: `#next` is the place of the oldest frame once it is full. */
  readonly #frames: Frame[] = [];
  #next = 0;

  add(frame: Frame): void {
    this.#frames[this.#next] = frame;
    this.#next = (this.#next + 1) % MAX_FRAMES;
  }

  /** Adds a number of frames that differ in their texts alone. The last one represents them. */
  repeat(last: Frame, count: number): void {
    for (let index = Math.min(count, MAX_FRAMES); index > 0; index--) this.add(last);
  }

  /**
   * A chunk with the missing finish reason; `undefined` when one of the last frames has one. The
   * choice is marked as inferred: `finish_reason_inferred`.
   */
  missingFinish(): JsonObject | undefined {
    // Mostly one of the newest frames has the reason, and no other is parsed.
    for (let age = 1; age <= this.#frames.length; age++) {
      const frame = this.#frames.at(this.#next - age)!;
      if (choicesOf(frame).some(({ finish_reason: reason }) => typeof reason === "string"))
        return undefined;
    }
    const choices = this.#frames.flatMap((frame) => choicesOf(frame));
    const chunk = this.#frames[0]?.chunk();
    if (chunk === undefined || choices.length === 0) return undefined;
    const { id, object, created, model } = chunk;
    const ended = new Map<JsonValue, string>();
    for (const { index = 0, delta } of choices) {
      const isCall =
        isObject(delta) && Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0;
      if (isCall || !ended.has(index)) ended.set(index, isCall ? "tool_calls" : "stop");
    }
    const names = Object.entries({ id, object, created, model }).filter(
      ([, value]) => value !== undefined,
    );
    return {
      ...Object.fromEntries(names),
      choices: [...ended].map(([index, reason]) => ({
        index,
        delta: {},
        finish_reason: reason,
        finish_reason_inferred: true,
      })),
    } as JsonObject;
  }
}

function choicesOf(frame: Frame): readonly JsonObject[] {
  const { choices } = frame.chunk();
  return Array.isArray(choices) ? choices.filter((choice) => isObject(choice)) : [];
}
