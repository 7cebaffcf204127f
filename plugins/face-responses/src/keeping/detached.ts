/** Responses in the background: their states, and their events for a client that comes back. */

import type { FaceDetached, JsonObject } from "@sluice/contract";
import { codeOf, messageOf } from "../codes.ts";
import { failedBy } from "../reply/response.ts";
import { flagIn } from "../request/fields.ts";
import { refused } from "../request/refusals.ts";
import { readEntry } from "./entry.ts";

const RUNNING: ReadonlySet<unknown> = new Set(["queued", "in_progress"]);
/** One event with its blank line, behind the one before. */
const EVENT = /[^]*?\r?\n\r?\n/gy;
const NUMBER = /"sequence_number"\s*:\s*(\d{1,15})/;
const NUMBERS = new RegExp(NUMBER, "g");

export const detached: FaceDetached = {
  isWanted({ value }) {
    if (flagIn(value, "background") !== true) return false;
    if (value.store !== false) return true;
    throw refused(
      "background",
      "background needs a stored response, which store: false forbids. Remove one of them.",
    );
  },
  isRunning: (entry) => RUNNING.has(readEntry(entry)?.response.status),
  ended(entry, error) {
    const { response = {} } = readEntry(entry) ?? {};
    const { status, error: failure = null } = failedBy(error);
    return { ...entry, response: { ...response, status, error: failure } as JsonObject };
  },
  eventsAfter(text, number) {
    const later = (event: string): boolean => Number(NUMBER.exec(event)?.[1] ?? -1) > number;
    return (text.match(EVENT) ?? []).filter(later).join("");
  },
  lostEvents(last, error) {
    const [, number = "-1"] = [...last.matchAll(NUMBERS)].at(-1) ?? [];
    const event = {
      type: "error",
      code: codeOf(error),
      message: messageOf(error),
      param: null,
      sequence_number: Number(number) + 1,
    };
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
  },
};
