/**
 * Folds steps into one function. koa-compose forbids a second `next()`; here a step that is
 * declared re-entrant may call it again, one call at a time, each a fresh attempt. A concurrent one
 * may call it several times at once, for a branch each.
 */

import { receiveBody } from "@sluice/runtime";
import { parentOf } from "@sluice/kit/internals";
import {
  type Exchange,
  GatewayError,
  isGatewayError,
  type Next,
  type Step,
  type StepContext,
  type StepFunction,
  type MaybePromise,
} from "@sluice/contract";
import type { StepTrace } from "./steps/trace.ts";

/** One step as the fold sees it. */
export interface Link {
  readonly name: string;
  readonly reentrant: boolean;
  readonly concurrent?: boolean;
  /** Whether the body must have been read before the step runs. */
  readonly needsBody: boolean;
  readonly enter?: Step["enter"] | undefined;
  readonly run: StepFunction;
}

/** An exchange that keeps account of its steps. */
interface Traced {
  readonly trace?: StepTrace;
}

/** The trace of an exchange; of a branch, that of the exchange it belongs to. */
function traceOf(exchange: Exchange): StepTrace | undefined {
  const { trace } = exchange as Traced;
  const parent = parentOf(exchange);
  return trace !== undefined || parent === undefined ? trace : traceOf(parent);
}

/** One function that runs the links from the outermost to the innermost. */
export function compose(links: readonly Link[]): (ctx: StepContext) => Promise<void> {
  return (ctx) => runFrom(links, 0, ctx, undefined);
}

/** A call of `next` by a re-entrant step. */
interface Call {
  isRunning: boolean;
}

/**
 * Runs the links from `from` on to the first that has more to do than at its entry, and through its
 * `next` the inner ones. Those in between cost no function of their own. `call` ends with the last
 * of them.
 */
async function runFrom(
  links: readonly Link[],
  from: number,
  ctx: StepContext,
  call: Call | undefined,
): Promise<void> {
  const { exchange } = ctx;
  const trace = traceOf(exchange);
  let index = from;
  let link = links[index];
  trace?.enter(index);
  try {
    for (;;) {
      if (link === undefined)
        throw new GatewayError("plugin_failed", "The pipeline ended without a reply.");
      if (link.needsBody && exchange.request === undefined) await receiveBody(exchange);
      if (link.enter === undefined) break;
      const goes = link.enter(exchange);
      if (goes instanceof Promise ? await goes : goes) break;
      index += 1;
      link = links[index];
      trace?.enter(index);
    }
    await link.run(ctx, nextOf(links, index, ctx, link));
  } catch (error) {
    const failure = isGatewayError(error) ? error : pluginFailure(link?.name ?? "", error);
    for (let place = index; place >= from; place -= 1) trace?.fail(place, failure.code);
    throw failure;
  } finally {
    trace?.leave(from);
    if (call !== undefined) call.isRunning = false;
  }
}

function nextOf(links: readonly Link[], index: number, ctx: StepContext, link: Link): Next {
  if (link.reentrant) return repeatableNext(links, index, ctx, link);
  return link.concurrent === true
    ? branchingNext(links, index, ctx, link)
    : singleNext(links, index, ctx, link);
}

function singleNext(links: readonly Link[], index: number, ctx: StepContext, link: Link): Next {
  let isCalled = false;
  return () => {
    if (isCalled)
      return Promise.reject(misuse(link.name, "called next() a second time and is not re-entrant"));
    isCalled = true;
    return runFrom(links, index + 1, ctx, undefined);
  };
}

function repeatableNext(links: readonly Link[], index: number, ctx: StepContext, link: Link): Next {
  const call: Call = { isRunning: false };
  return () => {
    if (call.isRunning)
      return Promise.reject(
        misuse(link.name, "called next() while an earlier call was still running"),
      );
    call.isRunning = true;
    return runFrom(links, index + 1, ctx, call);
  };
}

/** Two calls with one exchange would overwrite each other's target and reply. */
function branchingNext(links: readonly Link[], index: number, ctx: StepContext, link: Link): Next {
  const used: Exchange[] = [];
  return (branch = ctx) => {
    const { exchange } = branch;
    if (used.includes(exchange))
      return Promise.reject(misuse(link.name, "called next() twice for one branch"));
    if (exchange !== ctx.exchange && parentOf(exchange) !== ctx.exchange) {
      return Promise.reject(
        misuse(link.name, "called next() for an exchange that is no branch of its own"),
      );
    }
    used.push(exchange);
    return runFrom(links, index + 1, branch, undefined);
  };
}

function misuse(name: string, what: string): GatewayError {
  return pluginFailure(name, new Error(`Step ${name} ${what}.`));
}

/** The client learns that a step failed; the log, through the cause, which and how. */
function pluginFailure(name: string, cause: unknown): GatewayError {
  return new GatewayError("plugin_failed", `The step ${name} failed.`, { cause });
}

/** One step's part, with the name that reports of a failure use. */
export interface BeforeBody {
  readonly name: string;
  readonly decide: NonNullable<Step["beforeBody"]>;
}

/** Runs the parts one behind the other. It answers without a promise where none of them waits. */
export function runBeforeBody(
  parts: readonly BeforeBody[],
  exchange: Exchange,
  from = 0,
): MaybePromise<void> {
  for (let index = from; index < parts.length; index += 1) {
    const part = parts[index] as BeforeBody;
    try {
      const waiting = part.decide(exchange);
      if (waiting instanceof Promise) {
        const rest = waiting.then(() => runBeforeBody(parts, exchange, index + 1));
        return rest.catch((error: unknown) => {
          throw failureOf(part, error);
        });
      }
    } catch (error) {
      throw failureOf(part, error);
    }
  }
}

function failureOf({ name }: BeforeBody, error: unknown): GatewayError {
  return isGatewayError(error) ? error : pluginFailure(name, error);
}
