/** What pipeline files say of each other: a name and a route belong to one pipeline. */

import type { Path } from "../files/document.ts";
import type { Finding } from "../finding.ts";
import { valueAtPath } from "../files/path.ts";
import type { ResolvedDocument } from "../files/references.ts";
import type { Position } from "../snapshot.ts";

/** The findings of pipelines that share a name or a route. */
export function pipelineFaults(pipelines: readonly ResolvedDocument[]): Finding[] {
  const names = new Map<string, Position>();
  const routes = new Map<string, Position>();
  const findings: Finding[] = [];

  const claim = (
    taken: Map<string, Position>,
    key: string,
    pipeline: ResolvedDocument,
    path: Path,
    message: string,
    fix: string,
  ): void => {
    const at = pipeline.document.valueAt(path);
    const earlier = taken.get(key);
    if (earlier === undefined) taken.set(key, at);
    else
      findings.push({
        at,
        message: `${message} at ${earlier.file}:${earlier.line}:${earlier.column}`,
        fix,
      });
  };

  for (const pipeline of pipelines) {
    const name = valueAtPath(pipeline.value, ["pipeline"]);
    if (typeof name === "string") {
      claim(
        names,
        name,
        pipeline,
        ["pipeline"],
        `the pipeline's name "${name}" is taken`,
        "rename one of the two",
      );
    }
    const listed = valueAtPath(pipeline.value, ["routes"]);
    for (const [index, entry] of (Array.isArray(listed)
      ? (listed as readonly unknown[])
      : []
    ).entries()) {
      const route = typeof entry === "string" ? entry : valueAtPath(entry, ["route"]);
      if (typeof route !== "string") continue;
      claim(
        routes,
        shapeOf(route),
        pipeline,
        ["routes", index],
        `the route "${route}" is taken`,
        "keep one of the two",
      );
    }
  }
  return findings;
}

/**
 * A route without the names of its parameters: two routes of one shape answer the same requests.
 */
function shapeOf(route: string): string {
  return route.replace(/\{[^}]*?(\.\.\.)?\}/g, "{$1}");
}
