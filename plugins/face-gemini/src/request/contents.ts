/** `contents` as messages: the conversation of a request in the reference dialect. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject, Stages } from "@sluice/kit";
import { invalidField, Members, Reference } from "@sluice/kit/dialect";
import { Calls } from "./calls.ts";
import { Fields, type Notes, type Placed } from "./fields.ts";
import { blocksOf } from "./blocks.ts";
import { ModelMessage } from "./model-message.ts";

/** The messages of `contents`. Throws `invalid_field` for a part that has no translation. */
export function* messagesOf(
  contents: readonly Placed[],
  notes: Notes,
): Stages.Of<readonly JsonObject[]> {
  const clock = new Stages.Clock();
  const calls = new Calls();
  const messages: JsonObject[] = [];
  // Clients keep each event of a stream as a content: consecutive ones of the model are one turn.
  let answer: ModelMessage | undefined;
  for (const { value, path } of contents) {
    if (clock.isOver()) yield;
    const content = new Fields(value, path, notes);
    const role = content.text("role") ?? "user";
    const parts = content.list("parts") ?? [];
    content.end();
    if (role === "model") {
      answer ??= new ModelMessage(calls);
      for (const part of parts) {
        yield* notes.exact.prepare(part.value);
        answer.add(content.inner(part));
        if (clock.isOver()) yield;
      }
      continue;
    }
    if (role !== "user" && role !== "function")
      throw invalidField(`${path}.role`, "user, model or function");
    if (answer !== undefined) messages.push(...answer.messages());
    answer = undefined;
    messages.push(...(yield* userMessages(parts, content, { calls, clock })));
  }
  if (answer !== undefined) messages.push(...answer.messages());
  return messages;
}

/** The text of `systemInstruction` as a message. A string is what some clients send. */
export function systemMessage(given: Placed, notes: Notes): JsonObject | undefined {
  const { value, path } = given;
  if (typeof value === "string")
    return value === "" ? undefined : { role: "system", content: value };
  const content = new Fields(value, path, notes);
  content.get("role");
  const texts = content.objects("parts").flatMap((part) => {
    const text = part.text("text");
    part.end();
    if (text === undefined) throw invalidField(`${part.path}.text`, "a string");
    return text === "" ? [] : [{ type: "text", text }];
  });
  content.end();
  return texts.length === 0
    ? undefined
    : { role: "system", content: Reference.textOrBlocks(texts) };
}

/** Results of tools come first: each answers a call of the turn before. */
function* userMessages(
  parts: readonly Placed[],
  content: Fields,
  { calls, clock }: { readonly calls: Calls; readonly clock: Stages.Clock },
): Stages.Of<readonly JsonObject[]> {
  const results: JsonObject[] = [];
  const blocks: JsonObject[] = [];
  for (const each of parts) {
    if (clock.isOver()) yield;
    const part = content.inner(each);
    yield* part.notes.exact.prepare(each.value);
    part.get("thought");
    part.get("thoughtSignature");
    const result = part.object("functionResponse");
    if (result === undefined) blocks.push(...blocksOf(part));
    else results.push(resultOf(result, calls));
    part.end();
  }
  if (blocks.length === 0) return results;
  return [...results, { role: "user", content: Reference.textOrBlocks(blocks) }];
}

function resultOf(result: Fields, calls: Calls): JsonObject {
  const { path, notes } = result;
  const name = result.text("name");
  const id = result.text("id");
  const response = result.get("response");
  const media = result.objects("parts").flatMap((part) => blocksOf(part));
  if (result.flag("willContinue") === true)
    notes.leaveNative(result.get("willContinue"), "a result in pieces");
  notes.drop(result.get("scheduling"));
  result.end();
  if (name === undefined || name === "")
    throw invalidField(`${path}.name`, "the name of the function");
  if (response !== undefined && !isObject(response.value))
    throw invalidField(response.path, "an object");
  const { text, isError } = resultText(response?.value, notes);
  const content =
    media.length === 0 ? text : [...(text === "" ? [] : [{ type: "text", text }]), ...media];
  return {
    role: "tool",
    tool_call_id: calls.answer(name, id, path),
    content,
    ...(isError ? { is_error: true } : {}),
  };
}

/** A response of one text under the API's own keys is that text; any other is sent as JSON. */
function resultText(
  response: JsonValue | undefined,
  { exact }: Notes,
): {
  readonly text: string;
  readonly isError: boolean;
} {
  if (!isObject(response)) return { text: "", isError: false };
  const [[name, value] = [], ...others] = Object.entries(response);
  const isText = typeof value === "string" && others.length === 0;
  if (isText && name === "error") return { text: value, isError: true };
  // A text that looks like an object would come back as one.
  if (isText && name === "output" && Members.parse(value) === undefined)
    return { text: value, isError: false };
  return { text: JSON.stringify(exact.of(response)), isError: false };
}
