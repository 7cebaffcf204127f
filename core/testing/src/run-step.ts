/**
 * Runs one step as the engine does: what it does at its entry first, and the rest where there is
 * any.
 */

import type { Next, Step, StepContext } from "@sluice/contract";

/** Enters a step and, unless it has nothing more to do, runs it around `next`. */
export async function runStep(step: Step, ctx: StepContext, next: Next): Promise<void> {
  const goes = await step.enter?.(ctx.exchange);
  await (goes === false ? next() : step.run(ctx, next));
}
