/** The JSON Schemas of the files, with the options of the loaded plugins. */

import type { JsonObject } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import { editorSchemas } from "../../../config/emit.ts";
import type { FileKind } from "../../../config/complete/names.ts";
import type { Definitions } from "../../../registry/definitions.ts";

/** Schemas by the kind of file. */
export type FileSchemas = Readonly<Record<FileKind, JsonObject>>;

/** Makes the schemas when they are first asked for: the plugins are those of the start. */
export function fileSchemas({ all }: Definitions): () => FileSchemas {
  let made: FileSchemas | undefined;
  return () => {
    if (made !== undefined) return made;
    const texts = editorSchemas(all);
    const read = (kind: FileKind): JsonObject =>
      parseJson(texts[`${kind}.schema.json`] ?? "{}") as JsonObject;
    made = { gateway: read("gateway"), pipeline: read("pipeline"), prices: read("prices") };
    return made;
  };
}
