/** Effects: what an edit means to those who use and pay for the gateway, each with a grade of risk. */

import type { Position } from "../../../config/snapshot.ts";

/** How much an effect may hurt: `danger` opens something or breaks clients, `caution` changes who is served how, `safe` neither. */
export type Risk = "danger" | "caution" | "safe";

/** One effect of an edit. */
export interface Effect {
  readonly risk: Risk;
  /** What it is about: `route POST /v1/chat/completions`, `model gpt-4o`, `key ci`. */
  readonly about: string;
  /** What becomes of it. Holds no secret. */
  readonly message: string;
  /** Where the candidate says so; `undefined` for what it no longer says. */
  readonly at?: Position | undefined;
}

/** The grades, worst first. */
export const RISKS: readonly Risk[] = ["danger", "caution", "safe"];

/** Effects with the worst first, otherwise in the order they were found. */
export function worstFirst(effects: readonly Effect[]): Effect[] {
  return effects.toSorted((left, right) => RISKS.indexOf(left.risk) - RISKS.indexOf(right.risk));
}

/** An effect as a line. */
export function formatEffect({ risk, about, message }: Pick<Effect, "risk" | "about" | "message">): string {
  return `${risk.padEnd(7)}  ${about}: ${message}`;
}

/** How many effects there are of each grade, and the worst of them. */
export function summaryOf(effects: readonly Pick<Effect, "risk">[]) {
  const count = (risk: Risk): number => effects.filter((effect) => effect.risk === risk).length;
  return {
    risk: RISKS.find((risk) => count(risk) > 0) ?? ("safe" as const),
    danger: count("danger"),
    caution: count("caution"),
    safe: count("safe"),
  };
}
