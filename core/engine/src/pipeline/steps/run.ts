/**
 * From a living step to the function that runs: what its use says is put around it here, once, and
 * costs nothing where it says nothing.
 */

import type { Clock, Exchange, Log, Step, StepDefinition, StepFunction } from "@sluice/contract";
import type { StepSettings } from "../../config/snapshot.ts";
import { contained } from "./contained.ts";
import { shadowed, type ShadowReport } from "../shadow/shadow.ts";
import { compileCondition, readsBody, type Unmet } from "./condition.ts";
import { compileSchedule } from "./schedule.ts";
import { guardrailUse, isReentrant } from "./uses.ts";

/** What the uses of steps need. */
export interface RunParts {
  readonly timeZone: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes note of a step in shadow. */
  readonly onShadow: (report: ShadowReport) => void;
}

/** A step in one function, its entry included: what is put around it is put around both. */
export function wholeStep({ enter, run }: Step): StepFunction {
  if (enter === undefined) return run;
  return async (ctx, next) => {
    const goes = enter(ctx.exchange);
    return (goes instanceof Promise ? await goes : goes) ? run(ctx, next) : next();
  };
}

/** A step's function as its use wants it. */
export function runOf(
  run: StepFunction,
  settings: StepSettings,
  definition: StepDefinition<never>,
  pipeline: string,
  parts: RunParts,
): StepFunction {
  const { when, active, isShadow, maySkip, timeoutMs, at } = settings;
  const { name } = definition;
  let made = run;
  if (timeoutMs !== undefined || maySkip === true) {
    const isRepeating =
      isReentrant(definition, settings.options) || definition.traits?.concurrent === true;
    made = contained(made, {
      name,
      timeoutMs,
      maySkip: maySkip === true,
      isRepeating,
      log: parts.log,
    });
  }
  if (isShadow === true) {
    const report = {
      pipeline,
      step: name,
      at,
      counts: { runs: 0, refused: 0, answered: 0, changed: 0, failed: 0 },
    };
    parts.onShadow(report);
    made = shadowed(made, { report, log: parts.log, clock: parts.clock });
  }
  if (when === undefined && active === undefined) return made;
  const isActive =
    active === undefined ? undefined : compileSchedule(active, parts.timeZone, parts.clock);
  const matches = when === undefined ? undefined : compileCondition(when);
  const isAsked =
    guardrailUse(definition, settings.options) === undefined ? undefined : asksForGuardrails;
  return passable(name, made, (exchange) => {
    const unmet = isActive !== undefined && !isActive() ? OUT_OF_TIME : matches?.(exchange);
    return unmet === undefined || isAsked?.(exchange) === true ? undefined : unmet;
  });
}

const OUT_OF_TIME: Unmet = Object.freeze({
  text: "passed by: outside of the times of",
  about: "active",
});

/**
 * Whether the body must be there before a step is decided upon, although the step itself works on
 * headers.
 */
export function decidesOnBody({ when }: StepSettings): boolean {
  return when !== undefined && readsBody(when);
}

function passable(
  name: string,
  run: StepFunction,
  unmetBy: (exchange: Exchange) => Unmet | undefined,
): StepFunction {
  return (ctx, next) => {
    const unmet = unmetBy(ctx.exchange);
    if (unmet === undefined) return run(ctx, next);
    ctx.exchange.note(name, unmet.text, unmet.about);
    return next();
  };
}

/**
 * What a key, its team or a request wants to be guarded by runs, whatever the step's own condition
 * says.
 */
function asksForGuardrails({ identity, request }: Exchange): boolean {
  return (identity?.guardrails?.length ?? 0) > 0 || (request?.guardrails?.length ?? 0) > 0;
}
