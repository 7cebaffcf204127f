/** Further paths of pipelines' routes, which extensions add. */

import type { PathAlias } from "@sluice/contract";
import type { PipelineSettings, RouteSettings } from "../config/snapshot.ts";

/**
 * The pipelines with the aliases of their routes. A path that some pipeline has stays its own. An
 * alias whose route or face is not there is left out.
 */
export function withAliases(
  pipelines: readonly PipelineSettings[],
  aliases: readonly PathAlias[],
  hasFace: (name: string) => boolean,
): readonly PipelineSettings[] {
  if (aliases.length === 0) return pipelines;
  const taken = new Set(pipelines.flatMap(({ routes }) => routes.map(nameOf)));
  return pipelines.map((pipeline) => {
    const added: RouteSettings[] = [];
    for (const { route, of, face } of aliases) {
      const served = pipeline.routes.find((one) => nameOf(one) === of);
      if (served === undefined || taken.has(route)) continue;
      if (face !== undefined && !hasFace(face)) continue;
      taken.add(route);
      const [method = "", path = ""] = route.split(" ");
      added.push({ ...served, method, path, ...(face !== undefined && { face }) });
    }
    return added.length === 0 ? pipeline : { ...pipeline, routes: [...pipeline.routes, ...added] };
  });
}

function nameOf({ method, path }: RouteSettings): string {
  return `${method} ${path}`;
}
