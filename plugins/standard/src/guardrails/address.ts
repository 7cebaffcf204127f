/**
 * Texts in the address of a native request: its path and query go to the upstream as the client
 * wrote them.
 */

import { type BodyText, isMachineId, plainPercents } from "@sluice/kit/internals";
import type { Exchange } from "@sluice/contract";
import { nativeQuery } from "../passthrough/request.ts";

/** Segments that the providers' APIs name. What follows one of `BEFORE_MODEL` is a model. */
const SEGMENTS: ReadonlySet<string> = new Set(
  `api openai beta chat completions messages responses embeddings embed rerank generate images generations edits variations audio speech
  transcriptions translations files batches moderations models engines deployments model converse converse-stream invoke
  invoke-with-response-stream count_tokens count-tokens projects locations publishers google anthropic endpoints ocr fim agents classify tokenize
  detokenize content input_items cancel tags show version ps serverless v2beta stable-image inference`.split(
    /\s+/,
  ),
);
const BEFORE_MODEL: ReadonlySet<string> = new Set(["models", "engines", "deployments", "model"]);
const VERSION = /^v\d+(?:(?:alpha|beta)\d*)?$/;
const MODEL = /^[\w.:@/+-]*$/;

/** The path and the query of a native request, decoded. They can be refused, not edited. */
export function addressTexts({ operation, client }: Exchange): BodyText[] {
  if (operation !== "passthrough") return [];
  const path = pathText(client.parameters.endpoint ?? "");
  const query = plainPercents(nativeQuery(client.query).replaceAll("+", " "));
  const texts: BodyText[] = [];
  if (path !== "") texts.push({ path: ["path"], part: "parameters", text: path, isFixed: true });
  if (query !== "") texts.push({ path: ["query"], part: "parameters", text: query, isFixed: true });
  return texts;
}

/** What of a path is not the API's own. */
function pathText(endpoint: string): string {
  const segments = endpoint.split("/").map(plainPercents);
  return segments.filter((segment, index) => !isOfApi(segment, segments[index - 1])).join("/");
}

function isOfApi(segment: string, before: string | undefined): boolean {
  if (segment === "" || SEGMENTS.has(segment) || VERSION.test(segment) || isMachineId(segment))
    return true;
  return before !== undefined && BEFORE_MODEL.has(before) && MODEL.test(segment);
}
