/** Compiles pipelines: from the list in YAML to one function a route. */

import { GatewayError, type Host, type Operation, type Step, type StepContext, type StepDefinition } from "@sluice/spec";
import type { Finding } from "../config/finding.ts";
import type { PipelineSettings, Snapshot, StepSettings } from "../config/snapshot.ts";
import { compose, type Link } from "./compose.ts";
import { checkOrder } from "./order.ts";
import { RouteTable } from "./routes.ts";

/** A route that can run. */
export interface CompiledRoute {
  readonly method: string;
  readonly path: string;
  readonly pipeline: string;
  readonly operation: Operation;
  readonly deadlineMs: number;
  readonly run: (ctx: StepContext) => Promise<void>;
}

/** A living step with its place in the configuration. */
export interface StepInstance {
  readonly settings: StepSettings;
  readonly pipeline: string;
  readonly step: Step;
}

/** The compiled pipelines of a generation. */
export interface CompiledPipelines {
  readonly routes: RouteTable<CompiledRoute>;
  /** In the order of creation. */
  readonly instances: readonly StepInstance[];
}

type StepDefinitions = ReadonlyMap<string, StepDefinition<never>>;

/** Every fault of the pipelines' order. Needs no instances. */
export function checkPipelines(pipelines: readonly PipelineSettings[], definitions: StepDefinitions): Finding[] {
  return pipelines.flatMap((pipeline) => checkOrder(pipeline, definitions));
}

/** Creates every step and folds each pipeline into one function. */
export function compilePipelines(
  snapshot: Snapshot,
  definitions: StepDefinitions,
  hostFor: (settings: StepSettings) => Host,
): CompiledPipelines {
  const routes = new RouteTable<CompiledRoute>();
  const instances: StepInstance[] = [];
  for (const pipeline of snapshot.pipelines) {
    const links: Link[] = [];
    for (const settings of pipeline.steps) {
      const definition = definitions.get(settings.use);
      if (definition === undefined) throw new GatewayError("internal_error", `No plugin provides the step ${settings.use}.`);
      const step = definition.create(settings.options as never, hostFor(settings));
      instances.push({ settings, pipeline: pipeline.name, step });
      links.push({
        name: definition.name,
        reentrant: definition.reentrant === true,
        concurrent: definition.concurrent === true,
        needsBody: definition.early !== true,
        run: step.run,
      });
    }
    const run = compose(links);
    for (const { method, path } of pipeline.routes) {
      const { name, operation, deadlineMs } = pipeline;
      routes.add(method, path, { method, path, pipeline: name, operation, deadlineMs, run });
    }
  }
  return { routes, instances };
}
