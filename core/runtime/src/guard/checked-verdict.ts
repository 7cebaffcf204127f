/** The check of what a guardrail returned. Nothing of an invalid verdict is used. */

import type { EditSpan, Verdict } from "@sluice/contract";
import { orderSpans } from "@sluice/kit/internals";

/** The form of an identifier. A reason in another form may quote the text and is not passed on. */
const REASON = /^[\w.:/-]{1,64}$/;
/** The reason of a block without one. */
export const UNNAMED = "unnamed";
/** The verdict without an effect. */
export const ALLOW: Verdict = Object.freeze({ kind: "allow" });
const ASK_AGAIN = Object.freeze({ askAgain: true });

/** A verdict that the contract does not allow. */
export class InvalidVerdictError extends Error {}

/** The verdict on a text of a length. Throws `InvalidVerdictError` for an invalid one. */
export function checked(verdict: Verdict, length: number): Verdict {
  switch (verdict?.kind) {
    case "allow":
      return ALLOW;
    case "block": {
      const { start, end } = verdict;
      const reason =
        typeof verdict.reason === "string" && REASON.test(verdict.reason)
          ? verdict.reason
          : UNNAMED;
      const again = verdict.askAgain === true ? ASK_AGAIN : undefined;
      const isPlaced =
        Number.isSafeInteger(start) &&
        Number.isSafeInteger(end) &&
        start! >= 0 &&
        end! > start! &&
        end! <= length;
      if (!isPlaced) return { kind: "block", reason, ...again };
      return {
        kind: "block",
        reason,
        ...again,
        start: start!,
        end: end!,
        spans: orderedSpans(verdict.spans ?? [], length),
      };
    }
    case "edit": {
      const spans = orderedSpans(verdict.spans, length);
      return spans.length === 0 ? ALLOW : { kind: "edit", spans };
    }
    default:
      throw new InvalidVerdictError(kindOf(verdict));
  }
}

/** What was returned, without a text that may quote a request. */
function kindOf(verdict: unknown): string {
  if (typeof verdict !== "object" || verdict === null)
    return `${verdict === null ? "null" : typeof verdict} in place of an object`;
  const { kind } = verdict as { readonly kind?: unknown };
  return typeof kind === "string" && REASON.test(kind)
    ? `its kind is ${kind}, and can be allow, block or edit`
    : "it has no kind: allow, block or edit";
}

function orderedSpans(spans: readonly EditSpan[], length: number): readonly EditSpan[] {
  try {
    return orderSpans(spans, length);
  } catch {
    throw new InvalidVerdictError("its spans overlap, or lie outside of the text");
  }
}
