/** Pieces of a request that a dialect has in the reference dialect's own shape. */

import type { JsonObject } from "@sluice/spec";
import type { MediaSource } from "./data-url.ts";
import { mapId, type NameMap, type NameRule } from "./names.ts";
import type { ToolDefinition } from "./tools.ts";
import type { CallPart } from "./turns.ts";

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

/** A call of the assistant's. Arguments that are no object go as the object that tells so. */
export function functionCall(call: CallPart, names: NameMap, id: NameRule & { readonly exactLength?: boolean }): JsonObject {
  const isWell = call.arguments.trim() !== "" && call.input.invalid_arguments === undefined;
  const text = isWell ? call.arguments : JSON.stringify(call.input);
  return { id: mapId(call.id, id), type: "function", function: { name: names.toUpstream(call.name), arguments: text } };
}

/** One text as it is, everything else as blocks. */
export function textOrBlocks(blocks: readonly JsonObject[]): string | readonly JsonObject[] {
  const [first] = blocks;
  if (first === undefined) return "";
  return blocks.length === 1 && first.type === "text" && typeof first.text === "string" ? first.text : blocks;
}

/** Bytes as a data URL. */
export function dataUrlOf({ mimeType, data }: MediaSource & { readonly kind: "data" }): string {
  return `data:${mimeType};base64,${data}`;
}

/** The text of a medium that is one; `undefined` for bytes of another type, and for what stands elsewhere. */
export function mediaText(source: MediaSource): string | undefined {
  if (source.kind === "text") return source.text;
  if (source.kind !== "data" || !source.mimeType.startsWith("text/")) return undefined;
  return Buffer.from(source.data, "base64").toString("utf8");
}
