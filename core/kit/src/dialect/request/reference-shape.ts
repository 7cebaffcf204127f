/** Parts of a request for dialects that use the reference dialect's form. */

import type { JsonObject } from "@sluice/contract";
import type { MediaSource } from "./data-url.ts";
import { mapId, type NameMap, type NameRule } from "./names.ts";
import type { ToolDefinition } from "./tools.ts";
import type { CallPart } from "./conversation.ts";

/** A tool as `{type: "function", function: {…}}`. */
export function functionTool(
  { name, description, schema, strict }: Omit<ToolDefinition, "kind" | "path" | "schemaPath">,
  names: NameMap,
): JsonObject {
  return {
    type: "function",
    function: {
      name: names.toUpstream(name),
      ...(description === undefined ? {} : { description }),
      ...(strict === undefined ? {} : { strict }),
      parameters: schema,
    },
  };
}

/**
 * A tool call of the assistant. Arguments that are not an object are sent under
 * `invalid_arguments`.
 */
export function functionCall(
  call: CallPart,
  names: NameMap,
  id: NameRule & { readonly exactLength?: boolean },
): JsonObject {
  const isWell = call.arguments.trim() !== "" && call.input.invalid_arguments === undefined;
  const text = isWell ? call.arguments : JSON.stringify(call.input);
  return {
    id: mapId(call.id, id),
    type: "function",
    function: { name: names.toUpstream(call.name), arguments: text },
  };
}

/** A single text as a string, everything else as blocks. */
export function textOrBlocks(blocks: readonly JsonObject[]): string | readonly JsonObject[] {
  const [first] = blocks;
  if (first === undefined) return "";
  return blocks.length === 1 && first.type === "text" && typeof first.text === "string"
    ? first.text
    : blocks;
}

/** Bytes as a data URL. */
export function dataUrlOf({ mimeType, data }: MediaSource & { readonly kind: "data" }): string {
  return `data:${mimeType};base64,${data}`;
}

/** The text of a medium of a text type; `undefined` for other types and for a URL. */
export function mediaText(source: MediaSource): string | undefined {
  if (source.kind === "text") return source.text;
  if (source.kind !== "data" || !source.mimeType.startsWith("text/")) return undefined;
  return Buffer.from(source.data, "base64").toString("utf8");
}
