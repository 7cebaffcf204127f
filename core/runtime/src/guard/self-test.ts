/** The self-test: a guardrail must deny its own sample. */

import type { RequestSample, Verdict } from "@sluice/contract";
import { stackPlaces } from "../stack-places.ts";
import { GuardFailure } from "./failure.ts";
import { UNNAMED } from "./checked-verdict.ts";
import type { GuardrailRunner } from "./guardrail-runner.ts";

/** A test may take this long, whatever the guardrail's own budget. */
const TEST_TIMEOUT_MS = 30_000;

/** The fault of a guardrail in the test with its sample. */
export interface SampleFault {
  /** The second half of "The guardrail … ". */
  readonly what: string;
  /** It returned no verdict. The service that it calls may be unavailable. */
  readonly isFailure: boolean;
}

/** The fault of a guardrail in the test with its sample; `undefined` when it refuses the sample. */
export async function judgesSample(
  runner: GuardrailRunner,
  sample: () => string | RequestSample,
): Promise<SampleFault | undefined> {
  let text: string | RequestSample;
  try {
    text = sample();
  } catch (error) {
    return fault(`has no sample: making it failed${saidBy(error)}`);
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
  const session = runner.begin(AbortSignal.timeout(TEST_TIMEOUT_MS));
  const { exchange, operation } = context;
  try {
    if (typeof text === "object" && text !== null) {
      const { model = context.model, body = {} } = text;
      const verdict = await session.admit({
        exchange,
        operation,
        model,
        stream: false,
        body: { model, ...body },
      });
      return verdict.kind === "allow" ? fault("lets its own sample through") : reasonFault(verdict);
    }
    if (typeof text !== "string" || text === "") return fault("has an empty sample");
    const input = await session.check(text, { ...context, direction: "input" });
    if (input.kind !== "allow") return reasonFault(input);
    // A guardrail of replies may have nothing to say about requests.
    const output = await session.check(text, { ...context, direction: "output", part: "content" });
    if (output.kind !== "allow") return reasonFault(output);
    const { model } = context;
    const body = { model, messages: [{ role: "user", content: text }] };
    const whole = await session.admit({ exchange, operation, model, stream: false, body });
    return whole.kind === "allow" ? fault("lets its own sample through") : reasonFault(whole);
  } catch (error) {
    const what =
      error instanceof GuardFailure
        ? `failed at its own sample: it ${error.what}${saidBy(error.thrown)}`
        : "did not answer about its own sample in time";
    return { what, isFailure: true };
  }
}

/** A block is reported by its reason, which has to look like an identifier. */
function reasonFault(verdict: Verdict): SampleFault | undefined {
  if (verdict.kind !== "block" || verdict.reason !== UNNAMED) return undefined;
  return fault(
    "blocks its own sample without a `reason` of letters, digits and _.:/-, 64 characters at most",
  );
}

/** The message and the place of an error. It may be shown: the sample is the plugin's own text. */
function saidBy(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "";
  const [place] = stackPlaces(thrown);
  return `: ${thrown.message}${place === undefined ? "" : ` (${place})`}`;
}

function fault(what: string): SampleFault {
  return { what, isFailure: false };
}
