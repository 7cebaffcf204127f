/** The frame of a stream that carries the usage. A client gets it when it asked for it. */

import type { FrameBatch } from "@sluice/kit/internals";
import type { Frame } from "@sluice/contract";

/** Whether a frame carries the usage and nothing else. */
export function isUsageFrame(frame: Frame): boolean {
  const { raw } = frame;
  if (raw !== undefined && (!raw.includes('usage"') || raw.includes('"usage":null'))) return false;
  const { choices, usage } = frame.chunk();
  return (
    Array.isArray(choices) && choices.length === 0 && typeof usage === "object" && usage !== null
  );
}

/** The batch without the usage; `undefined` when it has nothing else. */
export function withoutUsage(batch: FrameBatch): FrameBatch | undefined {
  return batch.without(isUsageFrame);
}
