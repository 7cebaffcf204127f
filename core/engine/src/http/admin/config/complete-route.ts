/** Admin route for completions and help while a file of the configuration is typed. */

import type { JsonObject } from "@sluice/contract";
import { complete, type KnownReference } from "../../../config/complete/complete.ts";
import type { FileKind } from "../../../config/complete/names.ts";
import { fileName, placeOf } from "../../../config/files/file-names.ts";
import type { OpenedConfig } from "../../../config/load.ts";
import type { ConfigDiff } from "../../../generation/diff/config-diff.ts";
import type { ConfigEdits } from "../../../generation/rollout/edits.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";
import { invalid, readCount, requiredText } from "../fields.ts";
import type { FileSchemas } from "../pipelines/schemas.ts";
import { readFiles } from "./body-fields.ts";

/** The parts of the process that the route reads. */
export interface CompleteRouteParts {
  readonly edits: Pick<ConfigEdits, "overlaid">;
  readonly configDiff: Pick<ConfigDiff, "filesOf">;
  readonly schemas: () => FileSchemas;
}

/** Longer texts get no completions: they are parsed whole at each request. */
const MAX_TEXT = 256 * 1_024;
const MAX_REFERENCES = 200;

/** The route. */
export function completeRoute({ edits, configDiff, schemas }: CompleteRouteParts): AdminRoutes {
  return {
    "POST /config/complete": atWhole("config.preview", async ({ body }) => {
      const files = readFiles(body["files"] ?? {});
      const path = requiredText(body, "path", "the name of a file of GET /config/files");
      const text = files[path] ?? configDiff.filesOf("files", "path")[path];
      if (text === undefined)
        throw invalid("path", `The configuration has no file ${JSON.stringify(path)}.`);
      const offset = offsetOf(text, body);
      if (text.length > MAX_TEXT) return { from: offset, to: offset, completions: [], help: null };
      const opened = edits.overlaid(files);
      const kind = kindOf(path, opened);
      return complete(text, offset, {
        kind,
        schema: schemas()[kind],
        // A gateway file that cannot be read gives the names that it has on disk.
        gateway: (opened.gateway ?? edits.overlaid({}).gateway)?.document.value,
        references: referencesOf(opened),
      });
    }),
  };
}

function kindOf(path: string, opened: OpenedConfig): FileKind {
  if (path === fileName(opened.path, placeOf(opened))) return "gateway";
  const isPrices = path === opened.prices?.document.file || /(?:^|[/:])prices\.yaml$/.test(path);
  return isPrices ? "prices" : "pipeline";
}

/** The offset of a place: given itself, or by its line and column, which begin with 1. */
function offsetOf(text: string, body: JsonObject): number {
  const { offset = null, line = null, column = null } = body;
  if (offset !== null) return Math.min(readCount(offset, "offset"), text.length);
  if (line === null || column === null)
    throw invalid("offset", "The place is missing: offset, or line and column.");
  const lines = text.split("\n");
  const [row, at] = [readCount(line, "line"), readCount(column, "column")];
  const before = lines.slice(0, Math.max(0, row - 1)).reduce((sum, one) => sum + one.length + 1, 0);
  const length = lines[row - 1]?.length ?? 0;
  return Math.min(before + Math.min(Math.max(0, at - 1), length), text.length);
}

/** The references of all files, each once. Their values are not part of it. */
function referencesOf({ gateway, pipelines, prices }: OpenedConfig): readonly KnownReference[] {
  const found = new Map<string, KnownReference>();
  for (const document of [gateway, ...pipelines, prices])
    for (const { written, value } of document?.references ?? [])
      found.set(written, { written, isSet: value !== undefined });
  return [...found.values()].slice(0, MAX_REFERENCES);
}
