/** Annotations and citations of a reply, as far as this API has a form for them. */

import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";

/**
 * The annotations of a delta or message. A citation with an address has no place in the text. What
 * cites a place in a document has no form here and is left out.
 */
export function annotationsOf({ annotations, citations }: JsonObject): readonly JsonObject[] {
  return [
    ...Members.objectsOf(annotations).flatMap((each) => annotationOf(each)),
    ...(Array.isArray(citations) ? (citations as readonly JsonValue[]).flatMap(citationOf) : []),
  ];
}

function annotationOf(annotation: JsonObject): readonly JsonObject[] {
  const cited = annotation.url_citation;
  if (annotation.type !== "url_citation" || !isObject(cited)) return [];
  const { start_index: start, end_index: end } = cited;
  const isPlaced = typeof start === "number" && typeof end === "number";
  return address(cited.url, cited.title).map((each) =>
    isPlaced ? { ...each, start_index: start, end_index: end } : each,
  );
}

function citationOf(citation: JsonValue): readonly JsonObject[] {
  if (typeof citation === "string") return address(citation, undefined);
  return isObject(citation) ? address(citation.url, citation.title) : [];
}

function address(url: JsonValue | undefined, title: JsonValue | undefined): readonly JsonObject[] {
  if (typeof url !== "string" || !/^https?:/i.test(url)) return [];
  return [{ type: "url_citation", url, title: typeof title === "string" ? title : url }];
}
