/** Guardrails: judges of text. */

/** A stretch of the judged text to replace. Offsets are UTF-16 code units, end exclusive. */
export interface EditSpan {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** A guardrail's answer. A reason is an identifier for logs and rows, never the matched text. */
export type Verdict =
  | { readonly kind: "allow" }
  | { readonly kind: "block"; readonly reason: string }
  | { readonly kind: "edit"; readonly spans: readonly EditSpan[] };

/** A living guardrail. How a text is cut into chunks never changes the verdict. */
export interface Guardrail {
  /** Characters of context that a judgement about one character may need, on either side. `Infinity`: the whole text. */
  readonly reach: number;
  check(text: string, signal: AbortSignal): Verdict | Promise<Verdict>;
}
