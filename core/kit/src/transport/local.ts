/** The response of an upstream that needs no network. */

import type { LocalCall } from "@sluice/spec";
import { ResponseBody } from "./body.ts";
import type { UpstreamResponse } from "./upstream.ts";

const NO_FLOW = { pause() {}, resume() {} };

/** A response that has already arrived in full, one chunk for each piece of the call's body. */
export function localResponse(call: LocalCall): UpstreamResponse {
  const body = new ResponseBody(NO_FLOW, (reason) => body.fail(reason));
  for (const piece of call.body) body.push(Buffer.from(piece));
  body.end();
  return { status: call.status, headers: call.headers, body };
}
