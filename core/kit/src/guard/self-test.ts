/** The self-test: a guardrail must deny its own sample. */

import { GuardFailure, type Judge } from "./judge.ts";

/** A test may take this long, whatever the guardrail's own budget. */
const TEST_TIMEOUT_MS = 30_000;

/** What is wrong with a guardrail that is shown its sample; `undefined` when it denies it. */
export async function judgesSample(judge: Judge, sample: () => string): Promise<string | undefined> {
  let text: string;
  try {
    text = sample();
  } catch {
    return "has no sample: making it failed";
  }
  if (typeof text !== "string" || text === "") return "has an empty sample";
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
  try {
    const input = await judging.check(text, { ...context, direction: "input" });
    if (input.kind !== "allow") return undefined;
    // A guardrail of replies may have nothing to say about requests.
    const output = await judging.check(text, { ...context, direction: "output", part: "content" });
    if (output.kind !== "allow") return undefined;
    const { exchange, operation, model } = context;
    const body = { model, messages: [{ role: "user", content: text }] };
    const whole = await judging.admit({ exchange, operation, model, stream: false, body });
    return whole.kind === "allow" ? "lets its own sample through" : undefined;
  } catch (error) {
    return error instanceof GuardFailure
      ? `failed at its own sample: it ${error.what}`
      : "did not answer about its own sample in time";
  }
}
