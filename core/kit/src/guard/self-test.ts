/** The self-test: a guardrail must deny its own sample. */

import type { RequestSample } from "@sluice/spec";
import { GuardFailure, type Judge } from "./judge.ts";

/** A test may take this long, whatever the guardrail's own budget. */
const TEST_TIMEOUT_MS = 30_000;

/** What is wrong with a guardrail that is shown its sample. */
export interface SampleFault {
  /** The second half of "The guardrail … ". */
  readonly what: string;
  /** It gave no verdict: for one that asks a service, the service may be away. */
  readonly isFailure: boolean;
}

/** What is wrong with a guardrail that is shown its sample; `undefined` when it denies it. */
export async function judgesSample(judge: Judge, sample: () => string | RequestSample): Promise<SampleFault | undefined> {
  let text: string | RequestSample;
  try {
    text = sample();
  } catch {
    return fault("has no sample: making it failed");
  }
  const context = {
    exchange: "self-test",
    operation: "chat",
    model: "self-test",
    part: "user",
    place: "sample",
    isPartial: false,
    offset: 0,
  } as const;
  const judging = judge.begin(AbortSignal.timeout(TEST_TIMEOUT_MS));
  const { exchange, operation } = context;
  try {
    if (typeof text === "object" && text !== null) {
      const { model = context.model, body = {} } = text;
      const verdict = await judging.admit({ exchange, operation, model, stream: false, body: { model, ...body } });
      return verdict.kind === "allow" ? fault("lets its own sample through") : undefined;
    }
    if (typeof text !== "string" || text === "") return fault("has an empty sample");
    const input = await judging.check(text, { ...context, direction: "input" });
    if (input.kind !== "allow") return undefined;
    // A guardrail of replies may have nothing to say about requests.
    const output = await judging.check(text, { ...context, direction: "output", part: "content" });
    if (output.kind !== "allow") return undefined;
    const { model } = context;
    const body = { model, messages: [{ role: "user", content: text }] };
    const whole = await judging.admit({ exchange, operation, model, stream: false, body });
    return whole.kind === "allow" ? fault("lets its own sample through") : undefined;
  } catch (error) {
    const what =
      error instanceof GuardFailure
        ? `failed at its own sample: it ${error.what}`
        : "did not answer about its own sample in time";
    return { what, isFailure: true };
  }
}

function fault(what: string): SampleFault {
  return { what, isFailure: false };
}
