/** The last frames of a stream: whether its end says why the reply ended. */

import type { Frame, JsonObject, JsonValue } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";

/** Behind the finish reason of a choice there are at most those of other choices, and reports. */
const KEPT = 8;

/** Keeps the last frames. To keep one is an assignment: they are looked into once, at the end. */
export class RecentFrames {
  readonly #frames: (Frame | undefined)[] = Array.from({ length: KEPT }, () => undefined);
  #next = 0;

  add(frame: Frame): void {
    this.#frames[this.#next] = frame;
    this.#next = (this.#next + 1) % KEPT;
  }

  /**
   * The chunk with the finish reason that the upstream left out, `undefined` where one of the last frames has one. The reason
   * is inferred, and the choice says so: `finish_reason_inferred`.
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
