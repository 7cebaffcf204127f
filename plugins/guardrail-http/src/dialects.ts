/**
 * The two protocols: our own (docs/guardrail-http.md), and the generic guardrail API of LiteLLM.
 */

import type { EditSpan, TextContext, Verdict } from "@sluice/contract";
import { difference, lengthIn, placesOf, type Unit } from "./offsets.ts";
import type { SessionEvent } from "./sessions.ts";

/** A text and what is known of it. */
export interface Question {
  readonly text: string;
  readonly context: TextContext;
  readonly session: SessionEvent | undefined;
  readonly unit: Unit;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * A protocol: a question as JSON, an answer as a verdict. `read` throws a NoVerdictError on what is
 * none.
 */
export interface Dialect {
  readonly write: (question: Question) => object;
  readonly read: (answer: unknown, question: Question) => Verdict;
}

/** The service answered something that is no verdict. */
export class NoVerdictError extends Error {
  constructor() {
    super("The service's answer is no verdict.");
    this.name = "NoVerdict";
  }
}

const REASON = /^[\w.:/-]{1,64}$/;
const ALLOW: Verdict = Object.freeze({ kind: "allow" });

export const sluice: Dialect = {
  write({ text, context, session, unit, params }) {
    const { exchange, operation, model, direction, part, place } = context;
    const fresh =
      session === undefined ? 0 : lengthIn(text.slice(text.length - session.fresh), unit);
    return {
      protocol: "sluice-guardrail/1",
      exchange,
      operation,
      model,
      direction,
      part,
      place,
      offsets: unit,
      text,
      session: session === undefined ? null : { id: session.id, event: session.event, fresh },
      params,
    };
  },
  read(answer, question) {
    const { action, reason, start, end, spans, text } = recordOf(answer);
    const place = placesOf(question.text, question.unit);
    switch (action) {
      case "allow":
        return ALLOW;
      case "block": {
        const [from, to] = [place(start), place(end)];
        const known = typeof reason === "string" && REASON.test(reason) ? reason : "blocked";
        return {
          kind: "block",
          reason: known,
          ...(from === undefined || to === undefined ? {} : { start: from, end: to }),
        };
      }
      case "edit":
        if (Array.isArray(spans))
          return { kind: "edit", spans: spans.map((span) => spanOf(span, place)) };
        // The new part of a growing text would depend on the place of the cut.
        if (typeof text === "string" && question.session === undefined)
          return replaced(question.text, text);
        throw new NoVerdictError();
      default:
        throw new NoVerdictError();
    }
  },
};

/**
 * https://docs.litellm.ai/docs/adding_provider/generic_guardrail_api: one text in `texts`, the
 * action in capitals.
 */
export const litellm: Dialect = {
  write: ({ text, context, params }) => ({
    texts: [text],
    input_type: context.direction === "input" ? "request" : "response",
    litellm_call_id: context.exchange,
    litellm_trace_id: context.exchange,
    model: context.model,
    request_data: {},
    additional_provider_specific_params: params,
  }),
  read(answer, question) {
    const { action, texts } = recordOf(answer);
    switch (action) {
      case "NONE":
        return ALLOW;
      case "BLOCKED":
        // `blocked_reason` is a sentence, and may quote the text.
        return { kind: "block", reason: "blocked" };
      case "GUARDRAIL_INTERVENED": {
        const [text] = Array.isArray(texts) && texts.length === 1 ? (texts as unknown[]) : [];
        if (typeof text !== "string") throw new NoVerdictError();
        return replaced(question.text, text);
      }
      default:
        throw new NoVerdictError();
    }
  },
};

function replaced(from: string, to: string): Verdict {
  return from === to ? ALLOW : { kind: "edit", spans: [difference(from, to)] };
}

function spanOf(value: unknown, place: (at: unknown) => number | undefined): EditSpan {
  const { start, end, replacement, restore } = recordOf(value);
  const [from, to] = [place(start), place(end)];
  if (from === undefined || to === undefined || typeof replacement !== "string")
    throw new NoVerdictError();
  return { start: from, end: to, replacement, ...(restore === true ? { restore } : {}) };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new NoVerdictError();
  return value as Readonly<Record<string, unknown>>;
}
