/** Pipelined requests: how many of one connection are under way at the same time. */

import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "@sluice/contract";
import { writeError } from "../egress/error.ts";
import { requestId } from "../intake/request-id.ts";

/** Requests of one connection that may be under way. Replies go out in their order. */
const MAX_IN_FLIGHT = 16;

/** The requests of a connection whose replies have not ended. */
interface Pipeline {
  inFlight: number;
  /** Set with the first request above the limit: later data is not read. */
  isOver: boolean;
}

/**
 * A handler that refuses the 17th request of a connection whose first 16 are not answered yet, and
 * closes the connection behind that refusal. Requests behind it are not handled: their replies
 * could not be written.
 */
export function withBoundedPipeline(handler: RequestListener): RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>();
  return (request, response) => {
    const { socket } = request;
    let pipeline = pipelines.get(socket);
    if (pipeline === undefined) pipelines.set(socket, (pipeline = { inFlight: 0, isOver: false }));
    if (pipeline.isOver) return;
    if (pipeline.inFlight >= MAX_IN_FLIGHT) {
      pipeline.isOver = true;
      const message = `One connection may have ${MAX_IN_FLIGHT} requests under way. Read their replies before sending more.`;
      // The rest of the connection is not read.
      response.shouldKeepAlive = false;
      socket.pause();
      writeError(response, new GatewayError("rate_limited", message), [
        "x-request-id",
        requestId(Date.now()),
      ]);
      return;
    }
    const counted = pipeline;
    counted.inFlight += 1;
    response.on("close", () => (counted.inFlight -= 1));
    return handler(request, response);
  };
}
