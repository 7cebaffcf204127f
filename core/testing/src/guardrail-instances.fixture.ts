/** Guardrails and streams for the tests of this folder. */

import type {
  Frame,
  Guardrail,
  GuardrailInstance,
  GuardrailOutcome,
  GuardrailSettings,
} from "@sluice/contract";
import { chunkFrame, rawFrame } from "@sluice/kit/internals";
import { fakeClock } from "./fake-clock.ts";
import { fakeLog, type LogLine } from "./fake-host.ts";
import { GuardrailRunner } from "@sluice/runtime/guard";
import { GuardrailSet, SetPolicy } from "@sluice/runtime/guard";
import { matchSpans } from "@sluice/kit/guard";
import { chatStream } from "@sluice/runtime/guard";
import type { GuardedStreamOptions } from "@sluice/runtime/guard";

/** What every text's context says. */
export const CONTEXT = {
  exchange: "e1",
  operation: "chat",
  model: "m",
  direction: "output",
} as const;

/** A set and what it reported. */
export interface TestGuardrailSet {
  readonly set: GuardrailSet;
  readonly outcomes: GuardrailOutcome[];
  readonly lines: LogLine[];
}

/** A guardrail's instance by its name. */
export function instanceOf(
  name: string,
  guardrail: Guardrail,
  settings: Partial<GuardrailSettings> = {},
): GuardrailInstance {
  const common = {
    defaultOn: false,
    mode: "enforce",
    onError: "fail",
    budgetMs: 1_000,
    isolation: "inline",
  } as const;
  return { name, use: "test", guardrail, settings: { ...common, ...settings } };
}

/** A set of these guardrails. */
export function guardrailSetOf(
  instances: readonly GuardrailInstance[],
  signal: AbortSignal = new AbortController().signal,
): TestGuardrailSet {
  const outcomes: GuardrailOutcome[] = [];
  const lines: LogLine[] = [];
  const parts = { clock: fakeClock(), log: fakeLog(lines) };
  const runners = instances.map((instance) => new GuardrailRunner(instance, parts).begin(signal));
  return {
    set: new GuardrailSet(runners, new SetPolicy((outcome) => outcomes.push(outcome))),
    outcomes,
    lines,
  };
}

/** Replaces what a pattern matches. */
export function masking(pattern: RegExp, reach: number, replacement = "*"): Guardrail {
  return {
    reach,
    check(text) {
      const spans = matchSpans(text, pattern, replacement);
      return spans.length === 0 ? { kind: "allow" } : { kind: "edit", spans };
    },
  };
}

/** Blocks what a pattern matches. */
export function blocking(pattern: RegExp, reach: number): Guardrail {
  return {
    reach,
    check(text) {
      const match = pattern.exec(text);
      if (match === null) return { kind: "allow" };
      return {
        kind: "block",
        reason: "pattern",
        start: match.index,
        end: match.index + match[0].length,
      };
    },
  };
}

/** Options of a guarded chat stream. */
export function streamOf(
  set: GuardrailSet,
  parts: Partial<GuardedStreamOptions> = {},
): GuardedStreamOptions {
  return {
    dialect: chatStream,
    set,
    observers: new GuardrailSet([], new SetPolicy(() => undefined)),
    mode: "window",
    maxHeld: 10_000,
    context: CONTEXT,
    frameOf: chunkFrame,
    ...parts,
  };
}

/** The frame of a delta of a choice. */
export function deltaFrame(delta: object, choice: object = {}): Frame {
  return rawFrame(JSON.stringify({ id: "c", choices: [{ index: 0, delta, ...choice }] }));
}
