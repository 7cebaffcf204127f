/** A race: parallel attempts at one request, of which one answers. */

import { type Branch } from "@sluice/kit/internals";
import { branchOf, within } from "@sluice/kit";
import { discardReply, isGoneCode } from "@sluice/runtime";
import {
  type Clock,
  type Exchange,
  GatewayError,
  isGatewayError,
  type Next,
} from "@sluice/contract";
import { finalError } from "../fallback/failure-class.ts";

/** The parts of a race. */
export interface RaceParts {
  readonly exchange: Exchange;
  readonly next: Next;
  readonly clock: Clock;
  /** The delay after the newest attempt before another one joins; `undefined` for none. */
  readonly delayMs: number | undefined;
  /** Whether another attempt may join after `runners`. Called once for each candidate. */
  readonly mayJoin: (runners: number) => boolean;
}

/** The end of a race: the winner, the attempts under way at that moment, and the number of all. */
export interface RaceEnd {
  readonly winner: Runner;
  readonly losers: readonly Runner[];
  readonly runners: number;
}

/** One branch of the race. */
export interface Runner {
  readonly branch: Branch;
  /** On the monotonic clock. */
  readonly startedMs: number;
}

interface Finish {
  readonly runner: Runner;
  /** `undefined` when it has a reply. */
  readonly error: unknown;
}

/** The time that losers have to settle. Steps that observe their signal end at once. */
const LOSER_GRACE_MS = 100;

/**
 * Runs the race. The first branch with a reply, for a stream with its first content, becomes the
 * exchange's; the others are aborted, and their attempts end with `hedge_lost`. A failure waits for
 * those still under way. Throws the most specific error when all have failed.
 */
export async function race(parts: RaceParts): Promise<RaceEnd> {
  const { exchange } = parts;
  const running = new Map<Runner, Promise<Finish>>();
  const errors: unknown[] = [];
  let runners = 0;
  const start = (): void => {
    const runner = enter(parts, runners);
    runners += 1;
    running.set(runner.runner, runner.finish);
  };
  start();
  for (let mayGrow = parts.delayMs !== undefined; ;) {
    const next = await first(running, mayGrow && errors.length === 0 ? parts.delayMs : undefined);
    if (next === undefined) {
      mayGrow = !exchange.signal.aborted && isUnderWay(running) && parts.mayJoin(runners);
      if (mayGrow) start();
      continue;
    }
    running.delete(next.runner);
    if (next.error === undefined) {
      const losers = [...running.keys()];
      await giveUp(running, parts.clock);
      next.runner.branch.adopt();
      return { winner: next.runner, losers, runners };
    }
    errors.push(next.error);
    if (running.size === 0) throw telling(errors);
  }
}

function enter(
  { exchange, next, clock }: RaceParts,
  place: number,
): { runner: Runner; finish: Promise<Finish> } {
  const branch = branchOf(exchange);
  const called = exchange.attempts.map(({ target }) => target.id);
  // For pipelines without `balance`. A `balance` inside the branch chooses again.
  if (place > 0) branch.target = exchange.model?.targets.find(({ id }) => !called.includes(id));
  const runner: Runner = { branch, startedMs: clock.monotonic() };
  const finish = next({ exchange: branch }).then(
    () => ({ runner, error: undefined }),
    (error: unknown) => ({ runner, error }),
  );
  return { runner, finish };
}

/** The first finished attempt; `undefined` when none finishes in time. */
async function first(
  running: ReadonlyMap<Runner, Promise<Finish>>,
  withinMs: number | undefined,
): Promise<Finish | undefined> {
  const finishes = [...running.values()];
  const first = Promise.race(finishes);
  return withinMs === undefined ? first : within(withinMs, first, () => undefined);
}

/**
 * Whether an upstream was called. A second request for a slot would not shorten the wait for the
 * first.
 */
function isUnderWay(running: ReadonlyMap<Runner, unknown>): boolean {
  return [...running.keys()].some(({ branch }) => branch.attempts.length > 0);
}

/** Ends the other attempts: their connections immediately, their records before they are read. */
async function giveUp(running: ReadonlyMap<Runner, Promise<Finish>>, clock: Clock): Promise<void> {
  if (running.size === 0) return;
  const reason = new GatewayError(
    "hedge_lost",
    "Another attempt at the same request answered first.",
  );
  const ends = [...running].map(async ([{ branch }, finish]) => {
    branch.abort(reason);
    for (const attempt of branch.attempts) attempt.interrupt(reason);
    const { error } = await finish;
    if (error === undefined) await discardReply(branch.reply);
  });
  await within(LOSER_GRACE_MS, Promise.allSettled(ends), () => undefined);
  for (const { branch } of running.keys()) {
    for (const attempt of branch.attempts) attempt.close(reason, clock.now());
  }
}

/**
 * The error of several attempts: one about the request itself, or else the first one with the
 * shortest wait.
 */
function telling(errors: readonly unknown[]): unknown {
  const known = errors.filter(isGatewayError);
  const [one] = known;
  if (one === undefined) return errors[0];
  const verdict = known.find(
    ({ status, code }) => status < 500 && status !== 429 && !isGoneCode(code),
  );
  return verdict ?? finalError([one, ...known.slice(1)]);
}
