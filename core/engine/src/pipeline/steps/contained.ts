/** Containment: a step with a time of its own, or whose own failures are passed over. */

import {
  GatewayError,
  isGatewayError,
  type Log,
  type Next,
  type StepContext,
  type StepFunction,
} from "@sluice/contract";
import { branchOf } from "@sluice/kit";

/** How a step is contained. */
export interface Containment {
  readonly name: string;
  /** Until it hands on or answers; `undefined`: no limit. */
  readonly timeoutMs: number | undefined;
  readonly maySkip: boolean;
  /**
   * Whether the step calls the next step several times or makes its own branches. It then gets the
   * exchange itself.
   */
  readonly isRepeating: boolean;
  readonly log: Log;
}

/** One run of a contained step. */
interface Run {
  /** What the inner steps came to, once the step has handed on. */
  inner: Promise<void> | undefined;
  /** The step has taken too long: what it does from now on has no effect. */
  isLate: boolean;
  isOver: boolean;
  /** Ends the step's time. */
  stopClock: () => void;
}

/**
 * Contains a step: its own failure (any error except a GatewayError) or its timeout ends the
 * exchange, or skips the step. A step with a timeout works on a branch of the exchange, so that its
 * late changes have no effect.
 */
export function contained(step: StepFunction, containment: Containment): StepFunction {
  const { name, timeoutMs, maySkip, isRepeating, log } = containment;
  return async (ctx, next) => {
    const run: Run = { inner: undefined, isLate: false, isOver: false, stopClock: () => undefined };
    const onward: Next = (branch) => {
      if (run.isLate)
        return Promise.reject(
          new GatewayError("plugin_failed", `The step ${name} called next() after its timeout.`),
        );
      run.stopClock();
      run.inner = next(branch);
      return run.inner;
    };
    try {
      await (timeoutMs === undefined
        ? step(ctx, onward)
        : timed(step, ctx, onward, run, { ...containment, timeoutMs }));
    } catch (error) {
      if (!maySkip || isGatewayError(error)) throw error;
      // What a step that hands on several times came to is known to the step alone.
      if (isRepeating && run.inner !== undefined) throw error;
      ctx.exchange.note(name, "failed, and was passed over");
      log.warn("a step failed and was passed over", {
        step: name,
        request_id: ctx.exchange.id,
        error,
      });
      await (run.inner ?? next());
    }
  };
}

async function timed(
  step: StepFunction,
  ctx: StepContext,
  onward: Next,
  run: Run,
  { name, timeoutMs, isRepeating }: Containment & { readonly timeoutMs: number },
): Promise<void> {
  let fail: (error: Error) => void = () => undefined;
  const late = new Promise<never>((_resolve, reject) => (fail = reject));
  const branch = isRepeating ? undefined : branchOf(ctx.exchange);
  const startClock = (): void => {
    const timer = setTimeout(() => {
      run.isLate = true;
      const error = new Error(`Step ${name} took longer than its timeout of ${timeoutMs} ms.`);
      fail(error);
      branch?.abort(
        new GatewayError("plugin_failed", `The step ${name} took too long.`, { cause: error }),
      );
    }, timeoutMs);
    run.stopClock = () => clearTimeout(timer);
  };
  if (branch !== undefined) {
    // While a client sends its body the time is the client's.
    branch.aroundRead = async (read) => {
      run.stopClock();
      await read();
      if (!run.isLate && run.inner === undefined && !run.isOver) startClock();
    };
  }
  startClock();
  const work =
    branch === undefined
      ? step(ctx, onward)
      : step({ exchange: branch }, async () => {
          if (!run.isLate) branch.adopt();
          await onward();
          const { request, identity, model, target, reply, headers } = ctx.exchange;
          Object.assign(branch, { request, identity, model, target, reply });
          for (const [header, value] of headers) branch.headers.set(header, value);
        });
  try {
    await Promise.race([work, late]);
    branch?.adopt();
  } finally {
    run.isOver = true;
    run.stopClock();
    // The step may run for ever. Its result is ignored.
    work.catch(() => undefined);
    branch?.abort(new GatewayError("plugin_failed", `The step ${name} is over.`));
  }
}
