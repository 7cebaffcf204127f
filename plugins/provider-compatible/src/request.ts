/** Requests in a preset's form. Parts without changes keep their bytes. */

import { isObject } from "@sluice/kit";
import { invalidField, refusalsOf } from "@sluice/kit/dialect";
import { Compatible } from "@sluice/kit/openai";
import type { JsonDocument, JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import type { Preset } from "./presets.ts";

type Changes = Record<string, JsonValue | undefined>;

/** Blocks that every upstream takes. */
const TEXT_BLOCKS = ["text", "refusal"];

/**
 * The document of a chat request. Throws `unsupported_parameter` for a block or a format that the
 * preset has not.
 */
export function adaptChat(
  document: JsonDocument,
  request: ProviderRequest,
  preset: Preset,
): JsonDocument {
  const { value } = document;
  const refuse = refusalsOf(request);
  const changes: Changes = {};
  if (
    preset.hasNoSchema === true &&
    isObject(value.response_format) &&
    value.response_format.type === "json_schema"
  ) {
    refuse("response_format", "a JSON schema (it has JSON mode alone)");
  }
  for (const [from, to] of Object.entries(preset.renamed ?? {})) {
    if (value[from] === undefined) continue;
    changes[to] = value[from];
    changes[from] = undefined;
  }
  for (const [name, member] of Object.entries(preset.defaults ?? {}))
    if (value[name] === undefined) changes[name] = member;
  if (preset.tellsUsage === true) changes.stream_options = undefined;
  if (preset.budget === "reasoning" && isObject(value.thinking)) {
    const { type, budget_tokens: budget } = value.thinking;
    changes.thinking = undefined;
    changes.reasoning ??=
      type === "disabled"
        ? { enabled: false }
        : budget === undefined
          ? { enabled: true }
          : { max_tokens: budget };
  }
  const { messages } = value;
  if (Array.isArray(messages)) {
    const rules = historyOf(preset);
    const adapted = (messages as readonly JsonValue[]).flatMap(
      (message, index): readonly JsonValue[] => {
        if (!isObject(message)) return [message];
        if (preset.blocks !== undefined)
          checkBlocks(message.content, preset.blocks, `messages[${index}]`, refuse);
        // The thoughts have the preset's own name before the rest is taken out.
        return Compatible.adaptMessage(adaptOwn(message, preset), rules);
      },
    );
    if (adapted.length === 0)
      throw invalidField("messages", "a conversation with at least one message that is not empty");
    const isSame =
      adapted.length === messages.length &&
      adapted.every((message, index) => message === messages[index]);
    if (!isSame) changes.messages = adapted;
  }
  return document.with(changes);
}

/**
 * The message rules of a preset. Support for an empty list of blocks is unknown, so none is sent.
 */
function historyOf({ takesAnyMember, thoughts, maxIdCharacters }: Preset): Compatible.HistoryRules {
  return {
    refusesEmptyContent: true,
    ...(takesAnyMember === true ? {} : { isStrict: true }),
    ...(thoughts === undefined ? { takes: ["reasoning_content"] } : {}),
    ...(maxIdCharacters === undefined ? {} : { maxIdCharacters }),
  };
}

function checkBlocks(
  content: JsonValue | undefined,
  taken: readonly string[],
  path: string,
  refuse: ReturnType<typeof refusalsOf>,
): void {
  if (!Array.isArray(content)) return;
  for (const [index, block] of content.entries()) {
    const type = isObject(block) && typeof block.type === "string" ? block.type : "text";
    if (!TEXT_BLOCKS.includes(type) && !taken.includes(type)) {
      refuse(`${path}.content[${index}]`, `a block of the type ${type.slice(0, 64)}`);
    }
  }
}

/**
 * Thoughts under the preset's name; signed ones are another provider's. Names of participants are
 * removed where they are unsupported.
 */
function adaptOwn(
  message: JsonObject,
  { hasNoDeveloper, hasNoNames, thoughts }: Preset,
): JsonObject {
  const isDeveloper = hasNoDeveloper === true && message.role === "developer";
  const isNamed = hasNoNames === true && message.name !== undefined;
  const { thinking_blocks: signed, reasoning_content: reasoning, name, ...rest } = message;
  const isRenamed = reasoning !== undefined && thoughts !== undefined;
  if (!isDeveloper && !isNamed && signed === undefined && !isRenamed) return message;
  return {
    ...rest,
    ...(isNamed || name === undefined ? {} : { name }),
    ...(isDeveloper ? { role: "system" } : {}),
    ...(reasoning === undefined || thoughts === "none"
      ? {}
      : { [thoughts ?? "reasoning_content"]: reasoning }),
  };
}

/** The document of an image request: pixels of its own instead of a size. */
export function adaptImages(document: JsonDocument, request: ProviderRequest): JsonDocument {
  const { size, response_format: format } = document.value;
  const changes: Changes = {};
  if (typeof size === "string" && size !== "auto") {
    const [, width, height] =
      /^(\d{1,5})x(\d{1,5})$/.exec(size) ??
      refusalsOf(request)("size", `the size ${size.slice(0, 32)}`);
    Object.assign(changes, { width: Number(width), height: Number(height) });
  }
  if (size !== undefined) changes.size = undefined;
  if (format === "b64_json") changes.response_format = "base64";
  return document.with(changes);
}
