/** A log that keeps its messages, and real clocks. */

import type { Clock, Log } from "@sluice/contract";

/** A log and the messages it was given, with their levels. */
export interface RecordingLog extends Log {
  readonly lines: readonly string[];
}

/** Makes an empty log. */
export function createRecordingLog(): RecordingLog {
  const lines: string[] = [];
  const at =
    (level: string) =>
    (message: string): void => {
      lines.push(`${level} ${message}`);
    };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The machine's clocks. */
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
