/**
 * A start without the folder of pipelines that the gateway had: what is missing must not open what
 * it closed.
 */

import { dirname } from "node:path";
import type { Log } from "@sluice/contract";
import type { Finding } from "../../config/finding.ts";
import { nameOf } from "../../config/files/open.ts";
import { valueAtPath } from "../../config/files/path.ts";
import type { OpenedConfig } from "../../config/load.ts";
import { dataDirectoryOf } from "./last-good.ts";
import { openHistory } from "./history.ts";

/** The key of every pipeline file. */
const PIPELINE = /^pipeline:/m;

/**
 * The finding of a configuration that names no pipelines, whose folder of pipelines is not there,
 * and whose newest generation had one. A gateway file that names pipelines has none.
 */
export function lostPipelines(opened: OpenedConfig, log: Log): Finding | undefined {
  const { gateway, pipelines, documents, path, cwd } = opened;
  if (gateway === undefined || valueAtPath(gateway.value, ["pipelines"]) !== undefined)
    return undefined;
  if (pipelines.some(({ document }) => documents.includes(document.path))) return undefined;
  const { entries, textsOf } = openHistory(dataDirectoryOf(opened), log);
  const newest = entries.findLast((entry) => entry.path === path);
  const texts = newest === undefined ? undefined : textsOf(newest.generation);
  const gone = [...(texts ?? [])].find(([file, text]) => file !== path && PIPELINE.test(text));
  if (newest === undefined || gone === undefined) return undefined;
  const folder = nameOf(dirname(gone[0]), cwd);
  return {
    at: gateway.document.keyAt([]),
    message: `the pipelines folder \`${folder}\` is not there, and generation ${newest.generation} had it`,
    fix: "put it back, or write `pipelines: [shipped]` to serve the shipped pipelines in its place",
  };
}
