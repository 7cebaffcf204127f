/** Steps: the links of a pipeline. */

import type { Exchange } from "./exchange.ts";
import type { Lifecycle } from "./host.ts";
import type { MaybePromise } from "./shared-state.ts";

/**
 * Continues with the next step. Ends when all inner steps have ended; a streamed reply is then
 * primed, not finished. A `concurrent` step may hand on a branch of its exchange in place of the
 * exchange itself.
 */
export type Next = (branch?: StepContext) => Promise<void>;

/** Koa's context, as far as a step may know it. */
export interface StepContext {
  readonly exchange: Exchange;
}

/**
 * A step in Koa's own form. It answers by setting `ctx.exchange.reply`, refuses by throwing a
 * GatewayError.
 */
export type StepFunction = (ctx: StepContext, next: Next) => Promise<void>;

/** A living step. */
export interface Step extends Lifecycle {
  /**
   * What the step decides by the identity alone, before the body is read; it refuses by throwing or
   * rejecting. Called once for an exchange, when its body is asked for, in the order of the steps.
   * It is not called for a step whose use has a condition, a schedule, a time limit or `shadow`,
   * nor where the identity is not known yet: `enter` does that work then.
   */
  readonly beforeBody?: (exchange: Exchange) => MaybePromise<void>;
  /**
   * What the step does before the inner ones, on each of their runs; it refuses by throwing or
   * rejecting, as `run` does. Returns whether `run` is to follow: `false` goes on with the next
   * step and costs no promise. For what most requests do not need, and for steps that do nothing
   * afterwards: their `run` is `passOn` of the kit. `run` is never called without it. A terminal
   * step has none.
   */
  readonly enter?: (exchange: Exchange) => MaybePromise<boolean>;
  readonly run: StepFunction;
}
