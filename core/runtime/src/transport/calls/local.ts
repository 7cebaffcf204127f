/** The response of an upstream without a network. */

import type { LocalCall } from "@sluice/contract";
import { type Holder, ResponseBody } from "@sluice/kit/internals";
import type { UpstreamResponse } from "@sluice/kit/internals";

/**
 * Milliseconds of pieces made in one turn. They are made in the serving thread, so other requests
 * wait meanwhile.
 */
const TURN_MS = 5;

/**
 * A response whose pieces are made when they are read: a long stream to a slow reader is never
 * whole in memory. After some milliseconds, the next pieces are made in a new turn. `holder`: of
 * the body.
 */
export function localResponse(call: LocalCall, holder: Holder | undefined): UpstreamResponse {
  const pieces = call.body[Symbol.iterator]();
  // `push` stops the flow from inside the loop.
  const flow = { isPaused: false };
  let isScheduled = false;
  const pump = (): void => {
    isScheduled = false;
    const untilMs = performance.now() + TURN_MS;
    try {
      while (!flow.isPaused) {
        if (performance.now() >= untilMs) {
          isScheduled = true;
          setImmediate(pump);
          return;
        }
        const { done, value } = pieces.next();
        if (done === true) return body.end();
        body.push(Buffer.from(value));
      }
    } catch (error) {
      body.fail(error);
    }
  };
  const control = {
    pause() {
      flow.isPaused = true;
    },
    resume() {
      flow.isPaused = false;
      if (!isScheduled) pump();
    },
  };
  const cancel = (reason: unknown): void => {
    flow.isPaused = true;
    body.fail(reason);
  };
  const body = new ResponseBody(control, cancel, holder);
  pump();
  return { status: call.status, headers: call.headers, body };
}
