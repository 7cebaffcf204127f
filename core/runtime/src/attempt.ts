/** The record of an attempt at its start. */

import type { Attempt, Model, Target } from "@sluice/contract";

/** The known facts at the start of an attempt. `number`: 0 for an attempt outside the exchange's list. */
export interface AttemptStart {
  readonly number: number;
  readonly target: Target;
  readonly model?: Model | undefined;
  /** The name under which the target's models are priced. */
  readonly provider: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

/** A running attempt. Every member is set, so that V8 gives all attempts one hidden class. */
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
    noted: undefined,
    admission: undefined,
  };
}
