/** The maximum time of a stream before its first content. */

import { GatewayError } from "@sluice/contract";

/** The maximum time of a stream without content, from the call. */
export interface FirstContent {
  readonly ms: number;
  /**
   * Called once after `ms`: the total milliseconds that the stream gets instead. Absent: no
   * extension.
   */
  readonly extendedMs?: () => Promise<number>;
}

/** Calls `fail` when the time is over. Returns a function that stops the timer. */
export function limitFirstContent(
  { ms, extendedMs }: FirstContent,
  spentMs: number,
  fail: (error: GatewayError) => void,
): () => void {
  let isOver = false;
  const expire = (afterMs: number): void =>
    fail(
      new GatewayError("upstream_timeout", `The upstream sent no content within ${afterMs} ms.`),
    );
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
