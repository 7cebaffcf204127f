/** The faces that routes of a pipeline file name. */

import type { AnyDefinition } from "@sluice/contract";
import type { Finding } from "../finding.ts";
import { valueAtPath } from "../files/path.ts";
import type { ResolvedDocument } from "../files/references.ts";
import { pipelineSchema } from "../schema/pipeline.ts";
import { checkPlugin } from "./plugin-section.ts";
import { findingOf } from "./section.ts";

/** Operations whose requests and replies a face translates. */
const FACED_OPERATIONS: ReadonlySet<unknown> = new Set(["chat", "models", "tokens", "responses"]);

const OPERATIONS: ReadonlySet<unknown> = new Set(
  valueAtPath(pipelineSchema, ["properties", "operation", "enum"]) as readonly unknown[],
);

/** Faces that no package has, and faces where none has an effect. */
export function faceFaults(
  pipeline: ResolvedDocument,
  definitions: ReadonlyMap<string, AnyDefinition>,
): Finding[] {
  const routes = valueAtPath(pipeline.value, ["routes"]);
  if (!Array.isArray(routes)) return [];
  const operation = valueAtPath(pipeline.value, ["operation"]);
  let isSaid = !OPERATIONS.has(operation);
  return [...routes.keys()].flatMap((index) => {
    const path = ["routes", index, "face"];
    const name = valueAtPath(pipeline.value, path);
    if (typeof name !== "string" || name === "") return [];
    if (!FACED_OPERATIONS.has(operation)) {
      // The operation is one fault, and a name that is none has its own finding.
      if (isSaid) return [];
      isSaid = true;
      const message = `\`routes[${index}].face\` stands in a pipeline of the operation ${String(operation)}, whose requests have no face`;
      const fix =
        "remove it, or move the route to a pipeline of the operation chat, models, tokens or responses";
      return [findingOf(pipeline, { path, on: "key", message, fix })];
    }
    const use = { kind: "face", name, namePath: path, base: path, value: {} } as const;
    return checkPlugin(pipeline, definitions, use);
  });
}
