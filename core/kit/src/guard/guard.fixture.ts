/** Guardrails and streams for the tests of this folder. */

import type { Frame, Guardrail, GuardrailInstance, GuardrailOutcome, GuardrailSettings } from "@sluice/spec";
import { chunkFrame, rawFrame } from "../openai/stream.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { fakeLog, type LogLine } from "../testing/fake-host.ts";
import { Judge } from "./judge.ts";
import { Panel } from "./panel.ts";
import { matchSpans } from "./spans.ts";
import { chatStream } from "./stream-chat.ts";
import type { GuardedStreamOptions } from "./stream.ts";

/** What every text's context says. */
export const CONTEXT = { exchange: "e1", operation: "chat", model: "m", direction: "output" } as const;

/** A panel and what it reported. */
export interface TestPanel {
  readonly panel: Panel;
  readonly outcomes: GuardrailOutcome[];
  readonly lines: LogLine[];
}

/** A guardrail's instance by its name. */
export function instanceOf(name: string, guardrail: Guardrail, settings: Partial<GuardrailSettings> = {}): GuardrailInstance {
  const common = { defaultOn: false, mode: "enforce", onError: "fail", budgetMs: 1_000, isolation: "inline" } as const;
  return { name, use: "test", guardrail, settings: { ...common, ...settings } };
}

/** A panel of these guardrails. */
export function panelOf(instances: readonly GuardrailInstance[], signal: AbortSignal = new AbortController().signal): TestPanel {
  const outcomes: GuardrailOutcome[] = [];
  const lines: LogLine[] = [];
  const parts = { clock: fakeClock(), log: fakeLog(lines) };
  const judges = instances.map((instance) => new Judge(instance, parts).begin(signal));
  return { panel: new Panel(judges, (outcome) => outcomes.push(outcome)), outcomes, lines };
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
      return { kind: "block", reason: "pattern", start: match.index, end: match.index + match[0].length };
    },
  };
}

/** Options of a guarded chat stream. */
export function streamOf(panel: Panel, parts: Partial<GuardedStreamOptions> = {}): GuardedStreamOptions {
  return {
    dialect: chatStream,
    panel,
    observers: new Panel([], () => undefined),
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
