/**
 * The tests of a pipeline as settings: what is sent, what comes of it, and where each expectation
 * stands.
 */

import { parseDuration } from "@sluice/kit";
import type { ConfigDocument } from "./files/document.ts";
import { type PipelineSections, routeSection } from "./schema/pipeline.ts";
import type { TestSection } from "./schema/pipeline-tests.ts";
import type { PipelineTest } from "./snapshot.ts";

const MAX_TIMEOUT_MS = 10_000;

/** The tests of a checked pipeline file. */
export function testsOf(
  document: ConfigDocument,
  { tests, routes }: PipelineSections,
): PipelineTest[] {
  return tests.map((test, index): PipelineTest => {
    const route = test.route ?? routeSection(routes[0] ?? "GET /").route;
    const space = route.indexOf(" ");
    const path = ["tests", index];
    const places = Object.keys(test.expect).map(
      (key) => [key, document.keyAt([...path, "expect", key])] as const,
    );
    return {
      name: test.name,
      method: route.slice(0, space),
      target: route.slice(space + 1),
      key: test.key ?? {},
      headers: headersOf(test),
      body: typeof test.request === "object" ? JSON.stringify(test.request) : test.request,
      outcomes: test.upstream,
      timeoutMs: Math.min(parseDuration(test.timeout) ?? 0, MAX_TIMEOUT_MS),
      expect: test.expect,
      places: Object.fromEntries(places),
      at: document.keyAt([...path, "name"]),
    };
  });
}

function headersOf({ headers = {}, request }: TestSection): Readonly<Record<string, string>> {
  const named = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return {
    ...(request === undefined ? {} : { "content-type": "application/json" }),
    ...Object.fromEntries(named),
  };
}
