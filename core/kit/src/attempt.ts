/** The record of a try, as it begins. */

import type { Attempt, Model, Target } from "@sluice/spec";

/** What is known of an attempt before anything came of it. `number`: 0 for one that is not of the exchange's list. */
export interface AttemptStart {
  readonly number: number;
  readonly target: Target;
  readonly model?: Model | undefined;
  /** The name under which the target's models are priced. */
  readonly provider: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

/** An attempt under way. It has every member, so that all attempts have one shape to the machine that runs them. */
export function openAttempt({ number, target, model, provider, startedAtMs }: AttemptStart): Attempt {
  return {
    number,
    target,
    model,
    provider,
    startedAtMs,
    firstContentAtMs: undefined,
    endedAtMs: undefined,
    upstreamMs: undefined,
    outcome: undefined,
    error: undefined,
    usage: undefined,
    usageSource: undefined,
    replyTexts: undefined,
    replyScale: undefined,
    isUnanswered: undefined,
    upstreamStatus: undefined,
    document: undefined,
    cost: undefined,
  };
}
