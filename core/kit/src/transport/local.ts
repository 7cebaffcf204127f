/** The response of an upstream that needs no network. */

import type { LocalCall } from "@sluice/spec";
import { ResponseBody } from "./body.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** Milliseconds of pieces that are made in one turn. They are made in the thread that serves: other requests wait meanwhile. */
const TURN_MS = 5;

/**
 * A response whose pieces are made as they are read: a long stream to a slow reader is never in memory as a whole. After some
 * milliseconds the next pieces are made in a turn of their own.
 */
export function localResponse(call: LocalCall): UpstreamResponse {
  const pieces = call.body[Symbol.iterator]();
  // The flow is stopped by `push`, from inside the loop.
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
  const body: ResponseBody = new ResponseBody(control, (reason) => {
    flow.isPaused = true;
    body.fail(reason);
  });
  pump();
  return { status: call.status, headers: call.headers, body };
}
