/** The guardrail acme: numbers of tickets, `PRJ-1234`, do not leave. Replace the pattern, and what becomes of a match. */

import { defineGuardrail } from "@sluice/kit";
import { findPlaces, foldText, patternRule, reachOf, type Treatment, verdictOf } from "@sluice/kit/guard";

interface AcmeConfig {
  readonly on_match: "block" | "mask";
  readonly replacement: string;
}

/** In small letters: a text is folded before it is looked at. Every repetition is bounded, so that the length is. */
const TICKET = /(?<![a-z0-9])prj-[0-9]{4,6}(?![a-z0-9])/g;
const MAX_LENGTH = "prj-".length + 6;

export default defineGuardrail<AcmeConfig>({
  name: "acme",
  stability: "experimental",
  summary: "Finds numbers of tickets, and blocks or masks them.",
  // What YAML may say under `guardrails:`. Every key has a description: editors show it, and a test asks for it.
  config: {
    type: "object",
    properties: {
      on_match: {
        type: "string",
        enum: ["block", "mask"],
        default: "block",
        description: "Whether a match refuses the request, or `replacement` stands in its place.",
      },
      replacement: {
        type: "string",
        maxLength: 64,
        default: "[TICKET]",
        description: 'What stands in the place of a match. Example: `"***"`.',
      },
    },
  },
  // Judged at every load: a configuration under which this passes is refused.
  sample: () => "See PRJ-1234.",
  create({ on_match: onMatch, replacement }) {
    const rule = patternRule(TICKET, MAX_LENGTH);
    // The reason is an identifier for logs and rows. It never holds what was found.
    const refusal: Treatment = { kind: "block", reason: "acme/ticket" };
    const treatment: Treatment = onMatch === "block" ? refusal : { kind: "edit", replace: () => ({ replacement }) };
    return {
      // How much of a stream is held back until it is judged: the longest match, and what is looked at beside it.
      reach: reachOf([rule]),
      check(text, _signal, context) {
        // Folded: full width, look-alikes, accents, invisible characters and case go, and each place leads back to the original.
        const folded = foldText(text, { isJson: context.part === "arguments" });
        return verdictOf(findPlaces(folded, { rule, treatment, context }));
      },
    };
  },
});
