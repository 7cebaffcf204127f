/** Completions of the reference dialect and their streams, each made of the other. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { chunkOf } from "./chunks.ts";

/** The completion that chunks say, as a client of the reference dialect folds them. */
export function completionOf(chunks: readonly JsonObject[]): JsonObject {
  const { id, created, model } = chunks[0] ?? {};
  const choices = new Map<JsonValue, JsonObject>();
  let rest: JsonObject = {};
  for (const { choices: list, usage, service_tier: tier } of chunks) {
    if ((usage ?? null) !== null) rest = { ...rest, usage };
    if ((tier ?? null) !== null) rest = { ...rest, service_tier: tier };
    for (const { index = 0, delta, finish_reason: finish, ...more } of Members.objectsOf(list)) {
      const before = choices.get(index) ?? {
        index,
        message: { role: "assistant", content: null },
        logprobs: null,
        finish_reason: null,
      };
      const message = merge(before.message as JsonObject, isObject(delta) ? delta : {});
      choices.set(index, {
        ...before,
        ...more,
        message,
        finish_reason: finish ?? before.finish_reason,
      });
    }
  }
  return { id, object: "chat.completion", created, model, choices: [...choices.values()], ...rest };
}

function merge(message: JsonObject, delta: JsonObject): JsonObject {
  const { tool_calls: calls, ...members } = delta;
  let said: JsonObject = message;
  for (const [name, value] of Object.entries(members)) {
    if (name === "role") continue;
    const before = said[name];
    if (typeof value === "string")
      said = { ...said, [name]: typeof before === "string" ? before + value : value };
    else if (Array.isArray(value))
      said = {
        ...said,
        [name]: [
          ...(Array.isArray(before) ? (before as JsonValue[]) : []),
          ...(value as JsonValue[]),
        ],
      };
    else said = { ...said, [name]: value };
  }
  if (!Array.isArray(calls)) return said;
  const list = [...Members.objectsOf(said.tool_calls)];
  for (const { index = 0, function: piece, ...call } of Members.objectsOf(calls)) {
    const at = Number(index);
    const before = list[at] ?? {};
    const had = isObject(before.function) ? before.function : { arguments: "" };
    const next = isObject(piece) ? piece : {};
    const text = `${String(had.arguments ?? "")}${String(next.arguments ?? "")}`;
    list[at] = { ...before, ...call, function: { ...had, ...next, arguments: text } };
  }
  return { ...said, tool_calls: list };
}

/** The chunks in which a provider's translator streams a completion. */
export function chunksOf(reply: JsonObject): JsonObject[] {
  const { choices, usage, service_tier: tier } = reply;
  const chunks = Members.objectsOf(choices).flatMap(choiceChunks);
  if (usage !== undefined || tier !== undefined)
    chunks.push({
      choices: [],
      ...(usage === undefined ? {} : { usage }),
      ...(tier === undefined ? {} : { service_tier: tier }),
    });
  const { id, created, model } = reply;
  return chunks.map((chunk) => ({ ...chunkOf(chunk), id, created, model }));
}

function choiceChunks(choice: JsonObject): JsonObject[] {
  const { index = 0, message, finish_reason, ...others } = choice;
  const more = Object.fromEntries(Object.entries(others).filter(([name]) => name !== "logprobs"));
  const said = isObject(message) ? message : {};
  const {
    role = "assistant",
    content,
    reasoning_content: reasoning,
    thinking_blocks: blocks,
    tool_calls: calls,
    ...members
  } = said;
  const deltas: JsonObject[] = [{ role, content: "" }];
  if (Array.isArray(blocks)) {
    for (const block of Members.objectsOf(blocks)) {
      if (typeof block.thinking === "string") deltas.push({ reasoning_content: block.thinking });
      deltas.push({ thinking_blocks: [block] });
    }
  } else if (typeof reasoning === "string") deltas.push({ reasoning_content: reasoning });
  if (typeof content === "string" && content !== "") deltas.push({ content });
  for (const [name, value] of Object.entries(members))
    if (value !== null) deltas.push({ [name]: value });
  Members.objectsOf(calls).forEach((call, at) => {
    const made = isObject(call.function) ? call.function : {};
    deltas.push(
      { tool_calls: [{ index: at, ...call, function: { ...made, arguments: "" } }] },
      { tool_calls: [{ index: at, function: { arguments: made.arguments } }] },
    );
  });
  return [
    ...deltas.map((delta): JsonObject => ({ choices: [{ index, delta, finish_reason: null }] })),
    { choices: [{ index, delta: {}, finish_reason, ...more }] },
  ];
}
