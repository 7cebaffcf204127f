/** The rules of the reference dialect, for every reply. */

import type { JsonObject, Usage } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { must } from "./fault.ts";
import type { PlayedStream } from "./play-stream.ts";

const FINISH_REASONS = new Set(["stop", "length", "tool_calls", "content_filter", "function_call"]);

/**
 * A whole chat completion: its names, its choices, a finish reason of the dialect that fits what
 * was said.
 */
export function checkCompletion(reply: JsonObject, model: string): void {
  must(typeof reply.id === "string" && reply.id !== "", "The reply has no id.");
  must(reply.object === "chat.completion", "The reply's object is not chat.completion.");
  must(typeof reply.created === "number", "The reply has no created.");
  must(
    reply.model === model,
    `The reply's model is ${String(reply.model)}, not the client's name for it.`,
  );
  const choices = Members.objectsOf(reply.choices);
  must(choices.length > 0, "The reply has no choices.");
  for (const choice of choices) {
    must(
      typeof choice.index === "number" && isObject(choice.message),
      "A choice has no index or no message.",
    );
    const { message } = choice;
    must(message.role === "assistant", "A message's role is not assistant.");
    const { content } = message;
    must(
      content === null ||
        content === undefined ||
        typeof content === "string" ||
        Array.isArray(content),
      "A content is no text.",
    );
    const calls = Members.objectsOf(message.tool_calls);
    for (const call of calls) {
      must(
        typeof call.id === "string" && call.id !== "" && call.type === "function",
        "A call has no id or type.",
      );
      must(
        isObject(call.function) && typeof call.function.name === "string",
        "A call has no name.",
      );
      must(typeof call.function.arguments === "string", "The arguments of a call are no text.");
    }
    checkFinish(choice.finish_reason, calls.length > 0);
  }
}

function checkFinish(reason: unknown, hasCalls: boolean): void {
  must(
    typeof reason === "string" && FINISH_REASONS.has(reason),
    `${String(reason)} is no finish_reason.`,
  );
  must(!hasCalls || reason !== "stop", "The reply holds calls, and its finish_reason is stop.");
}

/** A usage: parts are not larger than what they are parts of, and the total is the sum. */
export function checkUsage(usage: Usage | undefined): void {
  if (usage === undefined) return;
  const {
    promptTokens,
    completionTokens,
    totalTokens,
    cachedTokens = 0,
    cacheWriteTokens = 0,
    reasoningTokens = 0,
  } = usage;
  for (const [name, count] of Object.entries(usage)) {
    must(
      typeof count !== "number" || (Number.isSafeInteger(count) && count >= 0),
      `${name} of the usage is ${String(count)}.`,
    );
  }
  must(
    totalTokens === promptTokens + completionTokens,
    "The usage's total is not the sum of prompt and completion.",
  );
  must(
    cachedTokens + cacheWriteTokens <= promptTokens,
    "More prompt tokens are cached than there are.",
  );
  must(
    (usage.cacheWrite1hTokens ?? 0) <= cacheWriteTokens,
    "More cache writes are kept for an hour than there are.",
  );
  must(
    reasoningTokens <= completionTokens,
    "There are more reasoning tokens than completion tokens.",
  );
}

/**
 * The chunks of a stream: one name in all, the role first, indexed calls with one head each, one
 * finish, usage apart.
 */
export function checkChunks(played: PlayedStream, model: string): void {
  const chunks = played.frames.map(({ text }) => JSON.parse(text) as JsonObject);
  const [first] = chunks;
  if (first === undefined) return;
  must(
    typeof first.id === "string" && typeof first.created === "number",
    "The first chunk has no id or created.",
  );
  const choices = new Map<unknown, ChoiceState>();
  for (const [index, chunk] of chunks.entries()) {
    must(
      chunk.id === first.id && chunk.created === first.created,
      `Chunk ${index} has another id or created.`,
    );
    must(chunk.object === "chat.completion.chunk", `Chunk ${index} is no chat.completion.chunk.`);
    must(chunk.model === model, `Chunk ${index} names the model ${String(chunk.model)}.`);
    must(Array.isArray(chunk.choices), `Chunk ${index} has no choices.`);
    if (played.frames[index]?.role === "usage") {
      must(
        (chunk.choices as readonly unknown[]).length === 0 && isObject(chunk.usage),
        "The usage chunk holds choices, or no usage.",
      );
    }
    for (const choice of Members.objectsOf(chunk.choices)) checkDelta(choice, choices);
  }
  if (played.dones === 0 || played.error !== undefined) return;
  must(played.dones === 1, `The stream was done ${played.dones} times.`);
  for (const { finish, calls } of choices.values()) {
    must(finish !== undefined, "A choice has no finish_reason.");
    checkFinish(finish, calls.size > 0);
  }
}

interface ChoiceState {
  finish: unknown;
  readonly calls: Set<number>;
}

function checkDelta(choice: JsonObject, states: Map<unknown, ChoiceState>): void {
  const delta = isObject(choice.delta) ? choice.delta : {};
  let state = states.get(choice.index);
  // An empty delta, of a filter report for example, is no first one.
  if (
    state === undefined &&
    Object.keys(delta).length === 0 &&
    typeof choice.finish_reason !== "string"
  )
    return;
  if (state === undefined) {
    must(delta.role === "assistant", "The first delta of a choice has no role.");
    states.set(choice.index, (state = { finish: undefined, calls: new Set() }));
  }
  for (const call of Members.objectsOf(delta.tool_calls)) {
    must(typeof call.index === "number", "A delta of a call has no index.");
    const isHead = !state.calls.has(call.index);
    must(
      isHead === (typeof call.id === "string"),
      `The id of call ${call.index} is not in its first delta alone.`,
    );
    must(!isHead || call.index === state.calls.size, `Call ${call.index} is not the next one.`);
    state.calls.add(call.index);
  }
  if (choice.finish_reason === null || choice.finish_reason === undefined) return;
  must(state.finish === undefined, "A choice finishes twice.");
  state.finish = choice.finish_reason;
}
