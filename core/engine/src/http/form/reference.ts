/** The reference dialect: replies go out as the steps left them. */

import { errorBody, type ErrorCodeForm } from "@sluice/contract";
import type { ReplyForm, StreamForm } from "./reply-form.ts";

/** A comment, which every reader of events passes over (WHATWG HTML 9.2.6). */
const PING = ": ping\n\n";
const END = "data: [DONE]\n\n";
const NO_NAMES: readonly string[] = Object.freeze([]);

/** The form of the reference dialect, by the form of its error codes. It has no state. */
export function referenceForm(codes: ErrorCodeForm = "status"): ReplyForm {
  return FORMS[codes];
}

const FORMS: Readonly<Record<ErrorCodeForm, ReplyForm>> = {
  status: formOf("status"),
  text: formOf("text"),
};

function formOf(codes: ErrorCodeForm): ReplyForm {
  const stream: StreamForm = {
    text: (batch) => batch.text(),
    isAscii: (batch) => batch.isAscii,
    chunk: eventOf,
    end: () => END,
    failure: (error) => eventOf(errorBody(error, codes)),
    failureAlone: () => undefined,
  };
  return {
    heartbeat: PING,
    dropped: NO_NAMES,
    whole: (reply) => reply,
    stream: () => stream,
    error: (error) => ({ status: error.status, body: errorBody(error, codes) }),
  };
}

function eventOf(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
