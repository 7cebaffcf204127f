/** Compiles pipelines: from the list in YAML to one function a route. */

import {
  type Face,
  GatewayError,
  type Host,
  type Operation,
  type Step,
  type StepContext,
  type StepDefinition,
} from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import type {
  PipelineSettings,
  Position,
  Snapshot,
  StepCondition,
  StepSettings,
} from "../config/snapshot.ts";
import { made } from "../registry/made.ts";
import { type BeforeBody, compose, type Link } from "./compose.ts";
import { blaming } from "./blame.ts";
import { conditionModelFaults } from "./steps/condition-models.ts";
import { guardrailFaults, isGuarded, refuseUnguarded } from "./guardrails.ts";
import { type Known, nameFaults } from "./steps/named-things.ts";
import { checkOrder } from "./order.ts";
import { RouteTable } from "./routes.ts";
import { shadowHost } from "./shadow/host.ts";
import type { ShadowReport } from "./shadow/shadow.ts";
import { decidesOnBody, runOf, wholeStep } from "./steps/run.ts";
import { isReentrant, useFaults } from "./steps/uses.ts";

/** A step's name and its line in a pipeline file. */
export interface StepPlace {
  readonly name: string;
  /** The condition as written. Absent: none. */
  readonly when?: StepCondition;
  readonly at: Position;
}

/** The names of a route's parts. It has no reference that keeps a generation alive. */
export interface RouteOutline {
  readonly method: string;
  readonly path: string;
  readonly pipeline: string;
  readonly operation: Operation;
  /** Outermost first. */
  readonly steps: readonly StepPlace[];
}

/** A route that can run. */
export interface CompiledRoute {
  readonly method: string;
  readonly path: string;
  readonly pipeline: string;
  readonly operation: Operation;
  readonly deadlineMs: number;
  /** 0: none. */
  readonly heartbeatMs: number;
  /** The form of its clients. Absent: the reference dialect. */
  readonly face: Face | undefined;
  readonly outline: RouteOutline;
  /** The decisions of its steps before the body is read. */
  readonly beforeBody: readonly BeforeBody[];
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
  /** The steps in shadow, and what they would have done. */
  readonly shadows: readonly ShadowReport[];
}

type StepDefinitions = ReadonlyMap<string, StepDefinition<never>>;

/**
 * Every fault of the pipelines' order, and of names in them where it is known what has a name.
 * Needs no instances.
 */
export function checkPipelines(
  pipelines: readonly PipelineSettings[],
  definitions: StepDefinitions,
  known?: Known,
): Finding[] {
  return pipelines.flatMap((pipeline) => [
    ...checkOrder(pipeline, definitions),
    ...useFaults(pipeline, definitions),
    ...(known === undefined ? [] : guardrailFaults(pipeline, definitions, known.guardrails)),
    ...(known === undefined ? [] : nameFaults(pipeline, definitions, known)),
    ...(known === undefined ? [] : conditionModelFaults(pipeline, known.models)),
  ]);
}

/** Creates every step and folds each pipeline into one function. */
export function compilePipelines(
  snapshot: Snapshot,
  definitions: StepDefinitions,
  hostFor: (settings: StepSettings) => Host,
  faces: ReadonlyMap<string, Face> = new Map(),
): CompiledPipelines {
  const routes = new RouteTable<CompiledRoute>();
  const instances: StepInstance[] = [];
  const shadows: ShadowReport[] = [];
  for (const pipeline of snapshot.pipelines) {
    const parts: PipelinePart[] = [];
    for (const settings of pipeline.steps) {
      const definition = definitions.get(settings.use);
      if (definition === undefined)
        throw new GatewayError("internal_error", `No plugin provides the step ${settings.use}.`);
      const stepHost = hostFor(settings);
      const host = settings.isShadow === true ? shadowHost(stepHost) : stepHost;
      const step = blaming(settings.at, () =>
        made(definition.create(settings.options as never, host), "step", settings.use),
      );
      instances.push({ settings, pipeline: pipeline.name, step });
      const { timeZone, clock, log } = stepHost;
      const onShadow = (report: ShadowReport): void => void shadows.push(report);
      const whole = wholeStep(step);
      const run = runOf(whole, settings, definition, pipeline.name, {
        timeZone,
        clock,
        log,
        onShadow,
      });
      // Without options of the use, the fold calls the step itself.
      const ran = run === whole ? step.run : run;
      const { traits = {} } = definition;
      const { terminal = false, concurrent = false, early = false } = traits;
      const isUnguardedEnd = terminal && !isGuarded(pipeline, definitions);
      parts.push({
        settings,
        keepsReplies: traits.keepsReplies === true,
        decide: run === whole ? step.beforeBody : undefined,
        link: {
          name: definition.name,
          reentrant: isReentrant(definition, settings.options),
          concurrent,
          needsBody: !early || decidesOnBody(settings),
          enter: terminal || run !== whole ? undefined : step.enter,
          run: isUnguardedEnd ? refuseUnguarded(ran) : ran,
        },
      });
    }
    addRoutes(routes, pipeline, parts, faces);
  }
  return { routes, instances, shadows };
}

/** A step of a pipeline as its routes have it. */
interface PipelinePart {
  readonly settings: StepSettings;
  /** Whether it runs on routes alone whose face keeps replies. */
  readonly keepsReplies: boolean;
  readonly decide: BeforeBody["decide"] | undefined;
  readonly link: Link;
}

/** What routes of a pipeline share. */
function foldOf(parts: readonly PipelinePart[]) {
  return {
    run: compose(parts.map(({ link }) => link)),
    beforeBody: parts.flatMap(({ link: { name }, decide }) =>
      decide === undefined ? [] : [{ name, decide }],
    ),
    steps: parts.map(({ link, settings: { at, when } }) => ({
      name: link.name,
      at,
      ...(when !== undefined && { when }),
    })),
  };
}

/** Adds the routes of a pipeline whose steps have been made. */
function addRoutes(
  routes: RouteTable<CompiledRoute>,
  pipeline: PipelineSettings,
  parts: readonly PipelinePart[],
  faces: ReadonlyMap<string, Face>,
): void {
  const whole = foldOf(parts);
  const others = parts.filter(({ keepsReplies }) => !keepsReplies);
  const plain = others.length === parts.length ? whole : foldOf(others);
  const { name, operation, deadlineMs, heartbeatMs } = pipeline;
  for (const { method, path, face: faceName } of pipeline.routes) {
    const face = faceName === undefined ? undefined : faces.get(faceName);
    const { run, beforeBody, steps } = face?.keeping === undefined ? plain : whole;
    const outline = { method, path, pipeline: name, operation, steps };
    routes.add(method, path, {
      method,
      path,
      pipeline: name,
      operation,
      deadlineMs,
      heartbeatMs,
      face,
      outline,
      beforeBody,
      run,
    });
  }
}
