/** The last frames of a stream, which show whether the stream gave a finish reason. */

import type { Frame, JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";

/** After the finish reason of a choice, a stream has at most the reasons of other choices, and reports. */
const MAX_FRAMES = 8;

/** Keeps the last frames. Adding one is an assignment: they are parsed once, at the end. */
export class RecentFrames {
  readonly #frames: (Frame | undefined)[] = Array.from({ length: MAX_FRAMES }, () => undefined);
  #next = 0;

  add(frame: Frame): void {
    this.#frames[this.#next] = frame;
    this.#next = (this.#next + 1) % MAX_FRAMES;
  }

  /** Adds so many frames that differ in their texts alone; the last one stands for all. */
  repeat(last: Frame, count: number): void {
    for (let index = Math.min(count, MAX_FRAMES); index > 0; index--) this.add(last);
  }

  /**
   * A chunk with the missing finish reason; `undefined` when one of the last frames has one. The
   * choice is marked as inferred: `finish_reason_inferred`.
   */
  missingFinish(): JsonObject | undefined {
    const chunks = this.#frames.flatMap((frame) => (frame === undefined ? [] : [frame.chunk()]));
    const choices = chunks.flatMap(({ choices: list }) => (Array.isArray(list) ? list.filter((choice) => isObject(choice)) : []));
    const [chunk] = chunks;
    if (chunk === undefined || choices.length === 0) return undefined;
    if (choices.some(({ finish_reason: reason }) => typeof reason === "string")) return undefined;
    const { id, object, created, model } = chunk;
    const ended = new Map<JsonValue, string>();
    for (const { index = 0, delta } of choices) {
      const isCall = isObject(delta) && Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0;
      if (isCall || !ended.has(index)) ended.set(index, isCall ? "tool_calls" : "stop");
    }
    const names = Object.entries({ id, object, created, model }).filter(([, value]) => value !== undefined);
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
