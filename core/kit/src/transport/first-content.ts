/** The time that a stream has until its first content. */

import { GatewayError } from "@sluice/spec";

/** How long a stream may be without content, from the call on. */
export interface FirstContent {
  readonly ms: number;
  /** Asked once, when `ms` are over: milliseconds in all that the stream has nevertheless. Absent: it has no more. */
  readonly extendedMs?: () => Promise<number>;
}

/** Calls `fail` when the time is over. Returns what ends the wait. */
export function limitFirstContent(
  { ms, extendedMs }: FirstContent,
  spentMs: number,
  fail: (error: GatewayError) => void,
): () => void {
  let isOver = false;
  const expire = (afterMs: number): void =>
    fail(new GatewayError("upstream_timeout", `The upstream sent no content within ${afterMs} ms.`));
  let timer = setTimeout(
    () => {
      if (extendedMs === undefined) return expire(ms);
      void extendedMs().then(
        (allMs) => {
          if (isOver) return;
          if (allMs <= ms) expire(ms);
          else timer = setTimeout(() => expire(allMs), allMs - ms);
        },
        () => isOver || expire(ms),
      );
      return undefined;
    },
    Math.max(0, ms - spentMs),
  );
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
