/** Sources of a text. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";

/** Types of Anthropic's citations (`TextCitation` of the SDK). */
const OWN: ReadonlySet<JsonValue | undefined> = new Set([
  "char_location",
  "page_location",
  "content_block_location",
  "web_search_result_location",
  "search_result_location",
]);

/** The citations of a message or delta: Anthropic's own, and those of searches in OpenAI's form. */
export function citationsOf({ citations, annotations }: JsonObject): readonly JsonObject[] {
  return [
    ...Members.objectsOf(citations).filter(({ type }) => OWN.has(type)),
    ...Members.objectsOf(annotations).flatMap((each) => webCitation(each)),
  ];
}

function webCitation({ type, url_citation: cited }: JsonObject): readonly JsonObject[] {
  if (type !== "url_citation" || !isObject(cited) || typeof cited.url !== "string") return [];
  return [
    {
      type: "web_search_result_location",
      url: cited.url,
      title: Members.textIn(cited.title) ?? null,
      cited_text: Members.textIn(cited.content) ?? "",
      encrypted_index: "",
    },
  ];
}
