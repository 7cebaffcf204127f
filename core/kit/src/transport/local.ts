/** The response of an upstream that needs no network. */

import type { LocalCall } from "@sluice/spec";
import { ResponseBody } from "./body.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** A response whose pieces are made as they are read: a long stream to a slow reader is never in memory as a whole. */
export function localResponse(call: LocalCall): UpstreamResponse {
  const pieces = call.body[Symbol.iterator]();
  // The flow is stopped by `push`, from inside the loop.
  const flow = { isPaused: false };
  const pump = (): void => {
    try {
      while (!flow.isPaused) {
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
      pump();
    },
  };
  const body: ResponseBody = new ResponseBody(control, (reason) => {
    flow.isPaused = true;
    body.fail(reason);
  });
  pump();
  return { status: call.status, headers: call.headers, body };
}
