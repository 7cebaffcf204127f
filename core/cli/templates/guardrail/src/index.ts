/**
 * The guardrail acme: blocks or masks ticket numbers,
 * such as `PRJ-1234`. Replace the pattern and the treatment of a match.
 */

import { defineGuardrail } from "@sluice/kit";
import {
  findPlaces,
  foldText,
  patternRule,
  reachOf,
  type Treatment,
  verdictOf,
} from "@sluice/kit/guard";

interface AcmeConfig {
  readonly on_match: "block" | "mask";
  readonly replacement: string;
}

/**
 * In lower case, because texts are folded before the search. Every repetition is bounded, so the
 * length of a match is bounded too.
 */
const TICKET = /(?<![a-z0-9])prj-[0-9]{4,6}(?![a-z0-9])/g;
const MAX_LENGTH = "prj-".length + 6;

export default defineGuardrail<AcmeConfig>({
  name: "acme",
  stability: "experimental",
  summary: "Finds ticket numbers, and blocks or masks them.",
  // The options under `guardrails:` in YAML. Every key has a description: editors show it, and a
  // test requires it.
  config: {
    type: "object",
    properties: {
      on_match: {
        type: "string",
        enum: ["block", "mask"],
        default: "block",
        description:
          "`block` refuses the request at a match; `mask` replaces the match by `replacement`.",
      },
      replacement: {
        type: "string",
        maxLength: 64,
        default: "[TICKET]",
        description: 'The text that replaces a match. Example: `"***"`.',
      },
    },
  },
  // Checked at every load. The gateway refuses a configuration under which this text passes.
  sample: () => "See PRJ-1234.",
  create({ on_match: onMatch, replacement }) {
    const rule = patternRule(TICKET, MAX_LENGTH);
    // The reason is an identifier for logs and rows. It never contains the match.
    const refusal: Treatment = {
      kind: "block",
      reason: "acme/ticket",
    };
    const treatment: Treatment =
      onMatch === "block" ? refusal : { kind: "edit", replace: () => ({ replacement }) };
    return {
      // The number of stream characters held back until they are checked: the longest match and its
      // context.
      reach: reachOf([rule]),
      check(text, _signal, context) {
        // Folding removes full width, look-alikes, accents, invisible characters and case, and maps
        // each position to the original.
        const folded = foldText(text, { isJson: context.part === "arguments" });
        return verdictOf(findPlaces(folded, { rule, treatment, context }));
      },
    };
  },
});
