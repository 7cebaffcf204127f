/** Effects of an edit on the users and the owner of the gateway, each with a grade of risk. */

import type { Position } from "../../../config/snapshot.ts";

/**
 * The risk of an effect: `danger` widens access or breaks clients, `caution` changes how clients
 * are served, `safe` does neither.
 */
export type Risk = "danger" | "caution" | "safe";

/** One effect of an edit. */
export interface Effect {
  readonly risk: Risk;
  /** The subject: `route POST /v1/chat/completions`, `model gpt-4o`, `key ci`. */
  readonly about: string;
  /** The change of the subject, without secrets. */
  readonly message: string;
  /** The place in the candidate; `undefined` for a removed entry. */
  readonly at?: Position | undefined;
}

/** The grades, worst first. */
export const RISKS: readonly Risk[] = ["danger", "caution", "safe"];

/** Effects with the worst first, otherwise in the order they were found. */
export function worstFirst(effects: readonly Effect[]): Effect[] {
  return effects.toSorted((left, right) => RISKS.indexOf(left.risk) - RISKS.indexOf(right.risk));
}

/** An effect as a line. */
export function formatEffect({
  risk,
  about,
  message,
}: Pick<Effect, "risk" | "about" | "message">): string {
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
