/** A completion as a message. */

import type { FaceContext, JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members, Reference } from "@sluice/kit/dialect";
import { type Block, Blocks, lastDelta } from "./blocks.ts";
import { inOrder } from "./order.ts";
import { stopOf } from "./stop.ts";
import { usageOf } from "./usage.ts";
import type { State } from "../read/request.ts";

/** The id of a reply, of a request's id. */
export function messageId({ requestId }: FaceContext): string {
  return `msg_${requestId.replaceAll("-", "")}`;
}

/** The whole reply. Throws `upstream_invalid_response` for arguments that hold too much. */
export function messageOf(reply: JsonObject, state: State, context: FaceContext): JsonObject {
  const choice = Reference.firstChoice(reply);
  const message = isObject(choice.message) ? choice.message : {};
  const blocks = new Blocks(state, context);
  for (const said of inOrder(message)) blocks.add(said);
  Reference.checkArguments(
    ...blocks.list.flatMap(({ kind, text }) => (kind === "tool_use" ? [text] : [])),
  );
  const { hasCalls, refusal } = blocks;
  return {
    id: messageId(context),
    type: "message",
    role: "assistant",
    model: Members.textIn(reply.model) ?? context.model,
    content: blocks.list.map((block) => blockOf(block, blocks.begun(block))),
    ...stopOf({ choice, hasCalls, refusal }),
    container: null,
    usage: usageOf(reply),
  };
}

function blockOf(block: Block, start: JsonObject): JsonObject {
  const { kind, text, deltas } = block;
  switch (kind) {
    case "whole":
      return start;
    case "tool_use":
      return { ...start, input: inputOf(text) };
    case "thinking": {
      const signed = [...deltas, lastDelta(block) ?? {}].find(({ signature }) => signature);
      return { ...start, thinking: text, signature: signed?.signature ?? "" };
    }
    case "text": {
      const said = deltas.flatMap((delta) => (typeof delta.text === "string" ? [delta.text] : []));
      const citations = deltas.flatMap(({ citation }) => (isObject(citation) ? [citation] : []));
      return {
        ...start,
        text: said.join(""),
        ...(citations.length === 0 ? {} : { citations }),
      };
    }
  }
}

/** Arguments that are no object stand under one member, so that the conversation can go on. */
function inputOf(text: string): JsonObject {
  if (text.trim() === "") return {};
  return Members.parseExact(text) ?? { invalid_arguments: text };
}
